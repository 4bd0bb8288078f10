import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { call, type Credentials } from '../../../bench/support/sign.js';
import type { Payee } from './payees.js';
import { REPORT } from './operations.js';

/** Reports a payout of `minor` units (0.000001 USDC). Its id. */
export async function reportPayout(
  baseUrl: string,
  who: Credentials,
  payee: Payee,
  minor: number,
  hash: string,
): Promise<string> {
  const amount = `${Math.floor(minor / 1_000_000)}.${String(minor % 1_000_000).padStart(6, '0')}`;
  const body = {
    user_id: payee.id,
    payout: { amount, transaction_hash: hash, custom_metadata: { invoice: randomUUID() } },
  };
  const response = (await call(baseUrl, who, 'POST', REPORT.path, 201, body)) as { payout: { id: string } };
  return response.payout.id;
}

export interface Outcome {
  readonly id: string;
  readonly type: 'payout.received.v2' | 'payout.expired.v1';
  readonly reason: string | null;
  /** Seconds from the end of the window to the outcome, by the database's clock; negative before it. */
  readonly afterEnd: number;
  /** Of the window, in seconds since 1970. */
  readonly end: number;
}

/** The outcomes that these payouts have, by their events. */
export async function outcomesOf(
  pool: pg.Pool,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Outcome>> {
  const { rows } = await pool.query<Outcome>(
    `select substr(ended.stream, 8) as id, ended.type, ended.data::json->>'reason' as reason,
       extract(epoch from ended.recorded_at - (reported.data::json->>'expires_at')::timestamptz)::float8 as "afterEnd",
       extract(epoch from (reported.data::json->>'expires_at')::timestamptz)::float8 as "end"
     from event_store.events ended
     join event_store.events reported on reported.stream = ended.stream and reported.revision = 0
     where ended.stream = any($1::text[]) and ended.revision > 0`,
    [ids.map((id) => `payout-${id}`)],
  );
  return new Map(rows.map((row) => [row.id, row]));
}
