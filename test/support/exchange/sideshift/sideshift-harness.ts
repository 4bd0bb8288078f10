import { randomBytes } from 'node:crypto';
import { SideShiftProvider } from '../../../../src/contexts/exchange/providers/sideshift.adapter.js';
import type {
  NewProviderOrder,
  ProviderReference,
} from '../../../../src/contexts/exchange/providers/exchange-provider.ports.js';
import { SideShiftShifts } from '../../../../src/contexts/exchange/providers/sideshift-shift.adapter.js';
import { newId } from '../../../../src/kernel/ids.js';
import { Sealer } from '../../../../src/platform/sealing/sealer.js';
import { testDatabase, type TestDatabase } from '../../postgres.js';
import { ADDRESS } from '../order-fixtures.js';
import { SideShift } from './sideshift.js';

export { ADDRESS };

/** Errors of the adapter, as matchers. */
export const UNAVAILABLE = { name: 'ProviderUnavailable', kind: 'unavailable' };
export const LATER = { name: 'ProviderUnavailable', kind: 'later' };
export const CONTRADICTION = { name: 'ProviderUnavailable', kind: 'contradiction' };

/** A SideShift, and the adapter on a database of its own, by SideShift's clock. */
export class SideShiftHarness {
  readonly shifts: SideShiftShifts;
  readonly provider: SideShiftProvider;
  private readonly processes: SideShiftProvider[] = [];

  private constructor(
    readonly db: TestDatabase,
    readonly sideshift: SideShift,
  ) {
    this.shifts = new SideShiftShifts(db.database, new Sealer(randomBytes(32)));
    this.provider = this.process();
  }

  static async start(): Promise<SideShiftHarness> {
    return new SideShiftHarness(await testDatabase(), await SideShift.start());
  }

  /** The adapter of one more process, possibly with another account. */
  process(
    account: Partial<SideShift['account']> = {},
    { timeoutMs = 30_000, listedAfterMs = 0 } = {},
  ): SideShiftProvider {
    const process = new SideShiftProvider(
      { ...this.sideshift.account, ...account },
      this.shifts,
      { now: () => new Date(this.sideshift.now()) },
      { timeoutMs, listedAfterMs },
    );
    this.processes.push(process);
    return process;
  }

  async newOrder(over: Partial<NewProviderOrder> = {}) {
    const order = requested(over);
    const created = await this.provider.create(order);
    const { provider_reference } = created;
    const reference: ProviderReference = { order_id: order.order_id, provider_reference };
    return { created, reference, shiftId: provider_reference };
  }

  /** The number of requested shifts. */
  get opened(): number {
    return this.sideshift.requests.filter((each) => each === 'POST /shifts/fixed').length;
  }

  async stop(): Promise<void> {
    await Promise.all(this.processes.map((process) => process.onApplicationShutdown()));
    await Promise.all([this.sideshift.shutDown(), this.db.drop()]);
  }
}

export function requested(over: Partial<NewProviderOrder> = {}): NewProviderOrder {
  return {
    order_id: newId(),
    pair_id: 'USDCSOL',
    amount_from: null,
    withdraw_address: ADDRESS,
    withdraw_address_tag: null,
    withdraw_address_memo: null,
    ...over,
  };
}
