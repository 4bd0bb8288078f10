import { fromMinorUnits } from '../../../kernel/money.js';
import type { CheckedTables } from '../../../platform/context.js';
import { everyRow } from '../../../platform/postgres/batches.js';
import { subscriptionName } from '../../../platform/projections/projection.js';

/** Name of the checkpoint that a request waits for before it responds with what it wrote. */
export const PAYOUT_VIEWS = subscriptionName('payouts.views');

interface BalanceRow {
  readonly user_id: string;
  readonly merchant_id: string;
  readonly confirmed: string;
  readonly pending: string;
}

/** Decimal strings of USDC, as the API writes them. */
export interface Figures {
  readonly confirmed: string;
  readonly pending: string;
  readonly committed: string;
}

/** Of minor units. */
export function figuresOf(confirmed: bigint, pending: bigint): Figures {
  return {
    confirmed: fromMinorUnits(confirmed),
    pending: fromMinorUnits(pending),
    committed: fromMinorUnits(confirmed + pending),
  };
}

export class AuditedPayouts {
  constructor(private readonly query: CheckedTables['query']) {}

  balances(read: (row: BalanceRow) => void): Promise<void> {
    return everyRow<BalanceRow>(
      this.query,
      `select user_id, merchant_id, confirmed, pending from payouts.balances
       where $1::uuid is null or user_id > $1 order by user_id limit $2`,
      ({ user_id: id }) => id,
      read,
    );
  }

  /** The balance of a user, and the position up to which events are in it; figures null when there is no row. */
  async balanceOf(
    userId: string,
  ): Promise<{ readonly position: string | null; readonly figures: Figures | null }> {
    const [row] = await this.query<{
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
    return { position, figures: figuresOf(BigInt(confirmed), BigInt(pending)) };
  }

  async payoutsOf(merchantId: string, userId: string): Promise<readonly string[]> {
    const rows = await this.query<{ id: string }>(
      'select id from payouts.payouts where merchant_id = $1 and user_id = $2',
      [merchantId, userId],
    );
    return rows.map(({ id }) => id);
  }
}
