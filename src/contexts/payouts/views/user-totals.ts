import { toMinorUnits } from '../../../kernel/money.js';
import type { UserCreated } from '../../users/contract.js';
import { PAYOUT_EXPIRED, PAYOUT_RECEIVED, type PayoutEvent } from '../contract.js';
import type { CopyWriter } from './copy-writer.js';

/** Users whose totals are added up in memory; beyond it the partial sums are written and begin again. */
const MAX_USERS = 200_000;

interface Totals {
  readonly merchantId: string;
  confirmed: bigint;
  pending: bigint;
}

/** Adds up what each user's payouts come to, in minor units, as partial sums for a table that is summed in the end. */
export class UserTotals {
  private readonly users = new Map<string, Totals>();

  constructor(
    private readonly copy: CopyWriter,
    private readonly table: string,
  ) {}

  add(event: PayoutEvent | UserCreated): void {
    const totals = this.of(event.data.user_id, event.data.merchant_id);
    if (event.type === 'user.created.v1') return;
    const amount = toMinorUnits(event.data.amount);
    if (event.type === PAYOUT_RECEIVED) totals.confirmed += amount;
    totals.pending += event.type === PAYOUT_RECEIVED || event.type === PAYOUT_EXPIRED ? -amount : amount;
  }

  /** Keeps the number of users in memory bounded. */
  bound(): void {
    if (this.users.size > MAX_USERS) this.write();
  }

  write(): void {
    for (const [userId, { merchantId, confirmed, pending }] of this.users) {
      this.copy.add(this.table, userId, merchantId, confirmed, pending);
    }
    this.users.clear();
  }

  private of(userId: string, merchantId: string): Totals {
    let totals = this.users.get(userId);
    if (totals === undefined) this.users.set(userId, (totals = { merchantId, confirmed: 0n, pending: 0n }));
    return totals;
  }
}
