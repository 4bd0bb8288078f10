import { fromMinorUnits } from '../../../kernel/money.js';
import type { Database } from '../../../platform/postgres/database.js';
import type { Figures } from '../domain/account.js';

const PAYOUT_VIEWS = 'payouts.views';

/** What the read models say, from which the API responds. */
export class ApiFigures {
  constructor(private readonly database: Pick<Database, 'query'>) {}

  /** The balance of a user, and the position up to which events are in it; figures null when there is no row. */
  async balanceOf(
    userId: string,
  ): Promise<{ readonly position: string | null; readonly figures: Figures | null }> {
    const [row] = await this.database.query<{
      position: string | null;
      confirmed: string | null;
      pending: string | null;
    }>(
      `select c.position, b.confirmed, b.pending
       from (select 1) always
       left join event_store.checkpoints c on c.name = $1
       left join payouts.balances b on b.user_id = $2`,
      [PAYOUT_VIEWS, userId],
    );
    const { position, confirmed, pending } = row!;
    if (confirmed === null || pending === null) return { position, figures: null };
    const [received, open] = [BigInt(confirmed), BigInt(pending)];
    return {
      position,
      figures: {
        confirmed: fromMinorUnits(received),
        pending: fromMinorUnits(open),
        committed: fromMinorUnits(received + open),
      },
    };
  }

  /** Ids of the payouts of a user. */
  async payoutsOf(merchantId: string, userId: string): Promise<readonly string[]> {
    const rows = await this.database.query<{ id: string }>(
      'select id from payouts.payouts where merchant_id = $1 and user_id = $2',
      [merchantId, userId],
    );
    return rows.map(({ id }) => id);
  }
}
