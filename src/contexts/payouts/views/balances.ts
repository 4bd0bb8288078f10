import { Injectable } from '@nestjs/common';
import { fromMinorUnits } from '../../../kernel/money.js';
import { Database } from '../../../platform/postgres/database.js';

/** Decimal strings of USDC (contract.md 11.1). */
export interface BalanceFigures {
  readonly confirmed: string;
  readonly pending: string;
  readonly committed: string;
  readonly currency_code: 'USDC';
}

export const NOTHING_PAID: BalanceFigures = {
  confirmed: '0',
  pending: '0',
  committed: '0',
  currency_code: 'USDC',
};

/** What do a user's payouts add up to? */
@Injectable()
export class BalancesView {
  constructor(private readonly database: Database) {}

  /** Running totals, kept by the projection; null when it knows no such user of the merchant. */
  async find(merchantId: string, userId: string): Promise<BalanceFigures | null> {
    const [row] = await this.database.query<{ confirmed: string; pending: string }>(
      'select confirmed, pending from payouts.balances where user_id = $1 and merchant_id = $2',
      [userId, merchantId],
    );
    if (row === undefined) return null;
    const confirmed = BigInt(row.confirmed);
    const pending = BigInt(row.pending);
    return {
      confirmed: fromMinorUnits(confirmed),
      pending: fromMinorUnits(pending),
      committed: fromMinorUnits(confirmed + pending),
      currency_code: 'USDC',
    };
  }
}
