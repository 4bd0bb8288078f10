import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';
import { SealError, Sealer } from '../../../platform/sealing/sealer.js';

/** Of MACs. */
const AGREED_SHIFT = 'agreed shift';

/** What was agreed when a shift was created. Amounts are decimal strings, times ISO 8601. */
export interface AgreedShift {
  readonly shiftId: string;
  readonly pairId: string;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly amountFrom: string;
  readonly amountTo: string;
  readonly rate: string;
  readonly depositAddress: string;
  readonly depositMemo: string | null;
  readonly settleAddress: string;
}

/** A deposit as it was seen last; `end` is what became of it. */
export interface SeenShiftDeposit {
  readonly amount: string;
  readonly end: { readonly status: 'settled' | 'refunded'; readonly hash: string } | null;
}

/** By the ids of deposits. */
export type SeenDeposits = Readonly<Record<string, SeenShiftDeposit>>;

interface StoredShift {
  readonly agreed: AgreedShift;
  readonly seen: SeenDeposits;
}

/**
 * `exchange.sideshift_shifts`. What was agreed carries a MAC over the order and itself: a row that another program wrote
 * would have the order paid out for another shift. What was seen only adds to what SideShift may not deny.
 */
@Injectable()
export class SideShiftShifts {
  constructor(
    private readonly database: Database,
    private readonly sealer: Sealer,
  ) {}

  /** Throws {@link SealError} where the service did not write what was agreed. */
  async find(orderId: string): Promise<StoredShift | null> {
    const [row] = await this.database.query<{ agreed: string; mac: string; seen: SeenDeposits }>(
      'select agreed, mac, seen from exchange.sideshift_shifts where order_id = $1',
      [orderId],
    );
    if (row === undefined) return null;
    if (!this.sealer.isAuthentic(AGREED_SHIFT, `${orderId} ${row.agreed}`, row.mac))
      throw new SealError(`the shift of order ${orderId} was changed outside the service`);
    return { agreed: JSON.parse(row.agreed) as AgreedShift, seen: row.seen };
  }

  /** The order's shift from now on: this one, or the one that it has already. */
  async agree(orderId: string, agreed: AgreedShift): Promise<AgreedShift> {
    const text = JSON.stringify(agreed);
    await this.database.query(
      `insert into exchange.sideshift_shifts (order_id, shift_id, agreed, mac) values ($1, $2, $3, $4)
       on conflict (order_id) do nothing`,
      [orderId, agreed.shiftId, text, this.sealer.mac(AGREED_SHIFT, `${orderId} ${text}`)],
    );
    return (await this.find(orderId))!.agreed;
  }

  /** What two processes see at once is put together. */
  async see(orderId: string, seen: SeenDeposits): Promise<void> {
    await this.database.query(
      'update exchange.sideshift_shifts set seen = seen || $2::jsonb where order_id = $1',
      [orderId, JSON.stringify(seen)],
    );
  }
}
