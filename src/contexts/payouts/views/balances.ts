import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';
import { figuresOf, type Figures } from './audited-payouts.js';

/** Decimal strings of USDC (contract.md 11.1). */
export interface BalanceFigures extends Figures {
  readonly currency_code: 'USDC';
}

export const NOTHING_PAID: BalanceFigures = { ...figuresOf(0n, 0n), currency_code: 'USDC' };

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
    return row === undefined
      ? null
      : { ...figuresOf(BigInt(row.confirmed), BigInt(row.pending)), currency_code: 'USDC' };
  }
}
