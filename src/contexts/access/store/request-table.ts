import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import type { ServedRequest } from '../../../platform/http/request-log.js';
import { columnArrays } from '../../../platform/postgres/batches.js';
import { CopyWriter } from '../../../platform/postgres/copy-writer.js';
import { Database } from '../../../platform/postgres/database.js';

export interface RequestBatch {
  readonly requests: readonly ServedRequest[];
  /** Since the batch before, in the order of `merchantId`. */
  readonly usage: readonly {
    readonly merchantId: string;
    readonly requests: number;
    readonly refused: number;
  }[];
  /** Credentials that were used, in order. */
  readonly credentialIds: readonly string[];
}

/** Losing the last requests with the database's machine is better than a disk write for each batch. */
const BEGIN = 'begin; set local synchronous_commit = off; select clock_timestamp() as now';
const COLUMNS =
  'request_id, merchant_id, credential_id, at, method, path, query_names, status, duration_ms, refusal, string_to_sign';
const MAX_REFUSAL = 500;

const COUNT = `insert into access.daily_requests as total (merchant_id, day, requests, refused)
  select merchant_id, (now() at time zone 'UTC')::date, requests, refused
  from unnest($1::uuid[], $2::int[], $3::int[]) as more (merchant_id, requests, refused)
  on conflict (merchant_id, day) do update
  set requests = total.requests + excluded.requests, refused = total.refused + excluded.refused`;

const USED = `insert into access.credential_uses as credential (credential_id, last_used_at)
  select id, now() from unnest($1::uuid[]) as id
  on conflict (credential_id) do update set last_used_at = excluded.last_used_at
  where credential.last_used_at <= excluded.last_used_at - interval '1 minute'`;

/** Requests of the last seven days, when credentials were last used, and how many requests a merchant sent per day. */
@Injectable()
export class RequestTable {
  constructor(private readonly database: Database) {}

  /** Writes the batch, in one transaction. `repeated`: it may be written already. Times are by the database's clock. */
  async write(batch: RequestBatch, repeated: boolean): Promise<void> {
    await this.database.transaction(
      async (tx, began) => {
        if (repeated && (await isWritten(tx, batch))) return;
        const { now } = began.at(-1)!.rows[0] as { readonly now: Date };
        await copy(tx, batch.requests, now.getTime() - performance.now());
        const { usage, credentialIds } = batch;
        await tx.query(COUNT, columnArrays(usage, 'merchantId', 'requests', 'refused'));
        if (credentialIds.length > 0) await tx.query(USED, [credentialIds]);
      },
      { begin: BEGIN, bounded: true },
    );
  }
}

/** A batch is written as a whole. */
async function isWritten(tx: PoolClient, { requests: [first] }: RequestBatch): Promise<boolean> {
  if (first === undefined) return false;
  const sql = 'select exists (select from access.requests where request_id = $1) as found';
  const { rows } = await tx.query<{ found: boolean }>(sql, [first.requestId]);
  return rows[0]!.found;
}

/** `origin`: the epoch milliseconds at which `performance.now()` was 0, by the database's clock. */
async function copy(tx: PoolClient, requests: readonly ServedRequest[], origin: number): Promise<void> {
  if (requests.length === 0) return;
  const writer = new CopyWriter(tx);
  for (const request of requests) {
    const { requestId, merchantId, credentialId, method, path, queryNames, status, durationMs } = request;
    writer.add(
      `access.requests (${COLUMNS})`,
      requestId,
      merchantId,
      credentialId,
      new Date(origin + request.startedAt).toISOString(),
      method,
      path,
      // Names that need quotes are none of these.
      `{${queryNames.map((name) => `"${name}"`).join()}}`,
      status,
      durationMs.toFixed(2),
      // A text of PostgreSQL cannot hold it.
      request.refusal?.slice(0, MAX_REFUSAL).replaceAll('\0', '\ufffd') ?? null,
      request.stringToSign,
    );
  }
  await writer.finish();
}
