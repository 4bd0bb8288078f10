import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';
import { STATUS } from '../payouts/payout-events.js';

/** The deactivating users in the read model of payouts. */
@Injectable()
export class Deactivations {
  constructor(private readonly database: Database) {}

  /** Counts pending and lists announced payouts of a user; null if the user is not being deactivated. */
  async find(userId: string): Promise<{ readonly pending: number; readonly intended: string[] } | null> {
    const [row] = await this.database.query<{ pending: number; intended: string[] }>(
      `select (select count(*)::int from payouts.payouts where user_id = $1 and status = $2) as pending,
         array(select payout_id::text from payouts.payout_intents where user_id = $1) as intended
       from payouts.balances where user_id = $1 and deactivating`,
      [userId, STATUS.pending],
    );
    return row ?? null;
  }

  /** Returns up to `limit` ids above `after`, in order, of deactivating users without a pending payout. */
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
