import { Injectable } from '@nestjs/common';
import { ApiProperty } from '../../../platform/dto/field.js';
import { TIME, UUID } from '../../../platform/dto/rules.js';
import { Database } from '../../../platform/postgres/database.js';
import { listPage, type KeysetPage } from '../../../platform/postgres/list-page.js';

/** A request, as lists display it (admin-api.md 3). */
export class LoggedRequest {
  @ApiProperty(UUID) request_id!: string;
  @ApiProperty(UUID) merchant_id!: string;

  @ApiProperty({
    ...UUID,
    nullable: true,
    description: 'The secret that signed it; null: none was verified.',
  })
  credential_id!: string | null;

  @ApiProperty(TIME) at!: Date;
  @ApiProperty({ type: 'string' }) method!: string;
  @ApiProperty({ type: 'string' }) path!: string;

  @ApiProperty({
    type: 'array',
    items: { type: 'string' },
    description: 'Names of the parameters in the query, without their values.',
  })
  query_names!: string[];

  @ApiProperty({ type: 'integer', minimum: 100, maximum: 599 }) status!: number;
  @ApiProperty({ type: 'number', minimum: 0 }) duration_ms!: number;

  @ApiProperty({ type: 'string', nullable: true, description: 'The `detail` of its problem.' })
  refusal!: string | null;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description:
      'Of a signature that did not match: what was to be signed, with the body as `sha256:<hex> (<length> bytes)`.',
  })
  string_to_sign!: string | null;
}

interface RequestsFilter extends KeysetPage {
  readonly status?: number | undefined;
  /** What the path begins with. */
  readonly path?: string | undefined;
  readonly request_id?: string | undefined;
}

/** The requests of merchants in the last seven days. */
@Injectable()
export class LoggedRequests {
  constructor(private readonly database: Database) {}

  /** Newest first. Null merchants: of all. */
  async page(merchants: readonly string[] | null, { status, path, request_id, ...page }: RequestsFilter) {
    const list = {
      columns: `request_id, merchant_id, credential_id, at, method, path, query_names, status, duration_ms, refusal,
        string_to_sign`,
      from: 'access.requests',
      time: 'at',
      id: 'request_id',
      lanes: { column: 'merchant_id', type: 'uuid', values: merchants },
      where: {
        [`at > now() - interval '7 days'`]: true,
        'status = ?': status,
        'request_id = ?': request_id,
        'path like ?': path === undefined ? null : `${escaped(path)}%`,
      },
    } as const;
    const { rows: requests, next_cursor } = await listPage<LoggedRequest>(this.database, list, page);
    return { requests, next_cursor };
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
