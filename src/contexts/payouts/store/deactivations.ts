import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';

export interface Deactivating {
  readonly pending: number;
  /** Payouts that were intended before the start of the deactivation and are not reported; none on an atomic store. */
  readonly intended: readonly string[];
}

/**
 * Users who are being deactivated, in the read model of payouts. A report checks the revision of the user's stream, so
 * every payout precedes the start of the deactivation. Once that start is in the read model, the number of pending payouts
 * can only fall. On a store that is not atomic the intent of every payout precedes it, and the payout may follow until its
 * stream is fenced (deactivation-worker.ts): so intents without a payout are kept too.
 */
@Injectable()
export class Deactivations {
  constructor(private readonly database: Database) {}

  /** Returns null until the read model has the start of the user's deactivation. */
  async find(userId: string): Promise<Deactivating | null> {
    const [row] = await this.database.query<{ pending: number; intended: string[] }>(
      `select (select count(*)::int from payouts.payouts where user_id = $1 and status = 0) as pending,
         array(select payout_id::text from payouts.payout_intents where user_id = $1) as intended
       from payouts.balances where user_id = $1 and deactivating`,
      [userId],
    );
    return row ?? null;
  }

  /** Ids of up to `limit` users, in order after `after`, who are being deactivated and have no pending payout. */
  async settled(limit: number, after: string | null): Promise<readonly string[]> {
    const rows = await this.database.query<{ user_id: string }>(
      `select user_id from payouts.balances
       where deactivating and pending = 0 and ($2::uuid is null or user_id > $2)
       order by user_id limit $1`,
      [limit, after],
    );
    return rows.map(({ user_id }) => user_id);
  }
}
