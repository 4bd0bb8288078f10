import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { columnArrays } from '../../../platform/postgres/batches.js';
import { Database } from '../../../platform/postgres/database.js';

export interface UserCount {
  readonly pending: number;
  readonly deactivating: boolean;
  /** Position of the last event counted: an event at or before it was seen already. Null before the first. */
  readonly position: string | null;
}

export interface Deactivating {
  readonly pending: number;
  /** Payouts that were intended before the start of the deactivation and are not reported; none on an atomic store. */
  readonly intended: readonly string[];
}

/** Users who are being deactivated, their pending payouts, and the payouts that may still be reported for them. */
@Injectable()
export class Deactivations {
  constructor(private readonly database: Database) {}

  /** Null until the start of the user's deactivation is counted. */
  async find(userId: string): Promise<Deactivating | null> {
    const [row] = await this.database.query<Deactivating & { pending_payouts: string }>(
      `select pending_payouts,
         array(select payout_id::text from payouts.payout_intents where user_id = $1) as intended
       from payouts.deactivations where user_id = $1 and deactivating`,
      [userId],
    );
    return row === undefined ? null : { ...row, pending: Number(row.pending_payouts) };
  }

  /** Ids of up to `limit` users, in order after `after`, who are being deactivated and have no pending payout. */
  async settled(limit: number, after: string | null): Promise<readonly string[]> {
    const rows = await this.database.query<{ user_id: string }>(
      `select user_id from payouts.deactivations
       where deactivating and pending_payouts = 0 and ($2::uuid is null or user_id > $2)
       order by user_id limit $1`,
      [limit, after],
    );
    return rows.map(({ user_id }) => user_id);
  }

  async dropIntent(payoutId: string): Promise<void> {
    await this.database.query('delete from payouts.payout_intents where payout_id = $1', [payoutId]);
  }
}

export async function loadCounts(
  tx: PoolClient,
  userIds: readonly string[],
): Promise<Map<string, UserCount>> {
  const { rows } = await tx.query<{
    user_id: string;
    pending_payouts: string;
    deactivating: boolean;
    position: string;
  }>(
    'select user_id, pending_payouts, deactivating, position from payouts.deactivations where user_id = any($1)',
    [userIds],
  );
  return new Map(
    rows.map((row) => [
      row.user_id,
      { pending: Number(row.pending_payouts), deactivating: row.deactivating, position: row.position },
    ]),
  );
}

export async function saveCounts(tx: PoolClient, counts: ReadonlyMap<string, UserCount>): Promise<void> {
  await tx.query(
    `insert into payouts.deactivations (user_id, pending_payouts, deactivating, position)
     select * from unnest($1::uuid[], $2::bigint[], $3::boolean[], $4::text[])
     on conflict (user_id) do update set pending_payouts = excluded.pending_payouts,
       deactivating = excluded.deactivating, position = excluded.position`,
    [[...counts.keys()], ...columnArrays([...counts.values()], 'pending', 'deactivating', 'position')],
  );
}

/** `open`: user by payout that was intended; `reported`: payouts whose intent is over. */
export async function saveIntents(
  tx: PoolClient,
  open: ReadonlyMap<string, string>,
  reported: readonly string[],
): Promise<void> {
  await tx.query(
    `insert into payouts.payout_intents (payout_id, user_id)
     select * from unnest($1::uuid[], $2::uuid[]) on conflict do nothing`,
    [[...open.keys()], [...open.values()]],
  );
  await tx.query('delete from payouts.payout_intents where payout_id = any($1)', [reported]);
}
