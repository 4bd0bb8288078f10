import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';
import { SealError, Sealer } from '../../../platform/sealing/sealer.js';
import type { ProviderOrder } from '../domain/order-events.js';

/** Of MACs. */
const AGREED_SHIFT = 'agreed shift';

/** What was agreed when a shift, whose id is the `provider_reference`, was created. */
export interface AgreedShift extends ProviderOrder {
  readonly pair_id: string;
  readonly created_at: string;
  readonly withdraw_address: string;
}

/**
 * `exchange.sideshift_shifts`. What was agreed carries a MAC over the order and itself: a row that another program wrote
 * would have the order paid out for another shift.
 */
@Injectable()
export class SideShiftShifts {
  constructor(
    private readonly database: Database,
    private readonly sealer: Sealer,
  ) {}

  /** Throws {@link SealError} where the service did not write what was agreed. */
  async find(orderId: string): Promise<AgreedShift | null> {
    const [row] = await this.database.query<{ agreed: string; mac: string }>(
      'select agreed, mac from exchange.sideshift_shifts where order_id = $1',
      [orderId],
    );
    if (row === undefined) return null;
    if (!this.sealer.isAuthentic(AGREED_SHIFT, `${orderId} ${row.agreed}`, row.mac))
      throw new SealError(`the shift of order ${orderId} was changed outside the service`);
    return JSON.parse(row.agreed) as AgreedShift;
  }

  /** The order's shift from now on: this one, or the one that it has already. */
  async agree(orderId: string, agreed: AgreedShift): Promise<AgreedShift> {
    const text = JSON.stringify(agreed);
    await this.database.query(
      `insert into exchange.sideshift_shifts (order_id, shift_id, agreed, mac) values ($1, $2, $3, $4)
       on conflict (order_id) do nothing`,
      [orderId, agreed.provider_reference, text, this.sealer.mac(AGREED_SHIFT, `${orderId} ${text}`)],
    );
    return (await this.find(orderId))!;
  }
}
