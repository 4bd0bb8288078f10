import { Injectable } from '@nestjs/common';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { ApiProperty } from '../../../platform/dto/field.js';
import { TIME, UUID } from '../../../platform/dto/rules.js';
import { keysetPage, ReadModels, type KeysetPage } from '../../../platform/read-models/read-models.js';
import { Database } from '../../../platform/postgres/database.js';

/** A request, as lists display it (admin-api.md 3). */
@Entity({ schema: 'access', name: 'requests' })
export class LoggedRequest {
  @PrimaryColumn('uuid') @ApiProperty(UUID) request_id!: string;
  @Column('uuid') @ApiProperty(UUID) merchant_id!: string;

  @Column('uuid')
  @ApiProperty({
    ...UUID,
    nullable: true,
    description: 'The secret that signed it; null: none was verified.',
  })
  credential_id!: string | null;

  @Column('timestamptz') @ApiProperty(TIME) at!: Date;
  @Column('text') @ApiProperty({ type: 'string' }) method!: string;
  @Column('text') @ApiProperty({ type: 'string' }) path!: string;

  @Column('text', { array: true })
  @ApiProperty({
    type: 'array',
    items: { type: 'string' },
    description: 'Names of the parameters in the query, without their values.',
  })
  query_names!: string[];

  @Column('smallint') @ApiProperty({ type: 'integer', minimum: 100, maximum: 599 }) status!: number;
  @Column('real') @ApiProperty({ type: 'number', minimum: 0 }) duration_ms!: number;

  @Column('text')
  @ApiProperty({ type: 'string', nullable: true, description: 'The `detail` of its problem.' })
  refusal!: string | null;

  @Column('text')
  @ApiProperty({
    type: 'string',
    nullable: true,
    description:
      'Of a signature that did not match: what was to be signed, with the body as `sha256:<hex> (<length> bytes)`.',
  })
  string_to_sign!: string | null;
}

interface RequestsFilter {
  readonly status?: number | undefined;
  /** What the path begins with. */
  readonly path?: string | undefined;
  readonly request_id?: string | undefined;
  readonly page: KeysetPage;
}

/** Which requests did merchants send in the last seven days, and what became of each? */
@Injectable()
export class LoggedRequests {
  constructor(private readonly models: ReadModels) {}

  /** `merchantIds`: of these alone; null: of every merchant. */
  async page(merchantIds: readonly string[] | null, filter: RequestsFilter) {
    const { status, path, request_id } = filter;
    const query = await this.models.query(LoggedRequest, 'request');
    query.where(`request.at > now() - interval '7 days'`);
    if (merchantIds?.length === 1)
      query.andWhere('request.merchant_id = :merchantId', { merchantId: merchantIds[0] });
    else if (merchantIds !== null) query.andWhere('request.merchant_id = any(:merchantIds)', { merchantIds });
    if (status !== undefined) query.andWhere('request.status = :status', { status });
    if (request_id !== undefined) query.andWhere('request.request_id = :request_id', { request_id });
    if (path !== undefined) query.andWhere('request.path like :prefix', { prefix: `${escaped(path)}%` });
    const page = await keysetPage(query, filter.page, { time: 'at', id: 'request_id' });
    return { requests: page.rows, next_cursor: page.next_cursor };
  }
}

function escaped(prefix: string): string {
  return prefix.replaceAll(/[\\%_]/g, '\\$&');
}

interface DayOfRequests {
  /** `YYYY-MM-DD`, in UTC. */
  readonly day: string;
  readonly requests: number;
  /** Those of them with a status from 400. */
  readonly refused: number;
}

/** How many requests did a merchant send on each of the last 90 days, and now? */
@Injectable()
export class DailyRequests {
  constructor(private readonly database: Database) {}

  /** Signed calls of the merchant API since `from`, in epoch milliseconds; counts at most `most`. */
  async since(merchantId: string, from: number, most: number): Promise<number> {
    const [row] = await this.database.query<{ requests: number }>(
      `select count(*)::int as requests from (select from access.requests where merchant_id = $1 and at > $2
       and credential_id is not null and path like '/merchants/%' limit $3) as recent`,
      [merchantId, new Date(from), most],
    );
    return row!.requests;
  }

  /** The newest first; days without requests are absent. */
  async of(merchantId: string): Promise<readonly DayOfRequests[]> {
    const rows = await this.database.query<{ day: string; requests: string; refused: string }>(
      `select day::text, requests, refused from access.daily_requests
       where merchant_id = $1 and day > (now() at time zone 'UTC')::date - 90 order by day desc`,
      [merchantId],
    );
    return rows.map(({ day, requests, refused }) => ({
      day,
      requests: Number(requests),
      refused: Number(refused),
    }));
  }
}
