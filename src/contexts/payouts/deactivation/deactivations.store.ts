import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';

export interface Deactivating {
  readonly pending: number;
  /** The announced payouts that are not reported; none on an atomic store. */
  readonly intended: readonly string[];
}

/**
 * The users in deactivation, in the read model of payouts. A report checks the revision of the user's stream, so every
 * payout precedes the start of the deactivation; after the start the number of pending payouts only falls. On a store
 * without atomic commits the intent precedes the start, and the payout may follow until its stream is fenced.
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

  /** Returns up to `limit` users in deactivation without a pending payout, in the order of ids from `after`. */
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
