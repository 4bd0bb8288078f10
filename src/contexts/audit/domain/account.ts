import { figuresOf, type Figures } from '../../payouts/contract.js';
import { isAmount, toMinorUnits } from '../../../kernel/money.js';

/** An event of a payout, and when it was recorded. */
export interface AccountEvent {
  readonly position: string;
  readonly recordedAt: Date;
  readonly type: string;
  readonly data: object;
}

/** A payout at a point of the log. Times are those of the log. */
export interface AccountPayout {
  readonly id: string;
  readonly amount: string;
  readonly reportedAt: Date;
  status: 'pending' | 'received' | 'expired';
  endedAt: Date | null;
}

/** The balance of one user, from the events alone and by code that no projection shares. */
export class Account {
  readonly payouts = new Map<string, AccountPayout>();
  private confirmed = 0n;
  private pending = 0n;

  add({ type, data, recordedAt }: AccountEvent): void {
    const { payout_id: id, amount } = data as { readonly payout_id?: string; readonly amount?: string };
    if (id === undefined || !isAmount(amount)) return;
    const payout = this.payouts.get(id);
    const kind = /^payout\.(reported|received|expired)\./.exec(type)?.[1];
    if (kind === 'reported' && payout === undefined) {
      this.payouts.set(id, { id, amount, reportedAt: recordedAt, status: 'pending', endedAt: null });
      this.pending += toMinorUnits(amount);
    } else if ((kind === 'received' || kind === 'expired') && payout?.status === 'pending') {
      payout.status = kind;
      payout.endedAt = recordedAt;
      this.pending -= toMinorUnits(payout.amount);
      if (kind === 'received') this.confirmed += toMinorUnits(payout.amount);
    }
  }

  get figures(): Figures {
    return figuresOf(this.confirmed, this.pending);
  }
}
