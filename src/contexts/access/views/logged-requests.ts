import { Injectable } from '@nestjs/common';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { KeysetPage } from '../../../platform/read-models/read-models.js';
import { keysetPage, ReadModels } from '../../../platform/read-models/read-models.js';

@Entity({ schema: 'access', name: 'requests' })
export class LoggedRequestRow {
  @PrimaryColumn('uuid', { name: 'request_id' })
  requestId!: string;

  @Column('uuid', { name: 'merchant_id' })
  merchantId!: string;

  @Column('uuid', { name: 'credential_id', nullable: true })
  credentialId!: string | null;

  @Column('timestamptz')
  at!: Date;

  @Column('text')
  method!: string;

  @Column('text')
  path!: string;

  @Column('text', { name: 'query_names', array: true })
  queryNames!: string[];

  @Column('smallint')
  status!: number;

  @Column('real', { name: 'duration_ms' })
  durationMs!: number;

  @Column('text', { nullable: true })
  refusal!: string | null;

  @Column('text', { name: 'string_to_sign', nullable: true })
  stringToSign!: string | null;
}

interface RequestsFilter {
  /** Null: of every merchant. */
  readonly merchantIds: readonly string[] | null;
  readonly status?: number | undefined;
  readonly pathPrefix?: string | undefined;
  readonly requestId?: string | undefined;
}

/** Which requests did merchants send in the last seven days, and what became of each? */
@Injectable()
export class LoggedRequests {
  constructor(private readonly models: ReadModels) {}

  async page({ merchantIds, status, pathPrefix, requestId }: RequestsFilter, page: KeysetPage) {
    const query = await this.models.query(LoggedRequestRow, 'request');
    query.where(`request.at > now() - interval '7 days'`);
    if (merchantIds?.length === 1)
      query.andWhere('request.merchantId = :merchantId', { merchantId: merchantIds[0] });
    else if (merchantIds !== null) query.andWhere('request.merchantId = any(:merchantIds)', { merchantIds });
    if (status !== undefined) query.andWhere('request.status = :status', { status });
    if (requestId !== undefined) query.andWhere('request.requestId = :requestId', { requestId });
    if (pathPrefix !== undefined)
      query.andWhere('request.path like :prefix', { prefix: `${escaped(pathPrefix)}%` });
    const { rows, next_cursor } = await keysetPage(query, page, { time: 'at', id: 'requestId' });
    return { rows, requests: rows.map(requestJson), next_cursor };
  }
}

function escaped(prefix: string): string {
  return prefix.replaceAll(/[\\%_]/g, '\\$&');
}

/** As both lists display it (admin-api.md 3). */
function requestJson(row: LoggedRequestRow) {
  return {
    request_id: row.requestId,
    merchant_id: row.merchantId,
    credential_id: row.credentialId,
    at: row.at.toISOString(),
    method: row.method,
    path: row.path,
    query_names: row.queryNames,
    status: row.status,
    duration_ms: row.durationMs,
    refusal: row.refusal,
    string_to_sign: row.stringToSign,
  };
}
