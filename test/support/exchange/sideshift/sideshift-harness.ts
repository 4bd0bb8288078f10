import { SideShiftProvider } from '../../../../src/contexts/exchange/providers/sideshift.adapter.js';
import type {
  AgreedOrder,
  NewProviderOrder,
} from '../../../../src/contexts/exchange/providers/exchange-provider.ports.js';
import { newId } from '../../../../src/kernel/ids.js';
import { ADDRESS } from '../order-fixtures.js';
import { SideShift } from './sideshift.js';

export { ADDRESS };

export const UNAVAILABLE = { name: 'ProviderUnavailable', kind: 'unavailable' };
export const LATER = { name: 'ProviderUnavailable', kind: 'later' };
export const CONTRADICTION = { name: 'ProviderUnavailable', kind: 'contradiction' };

/** A SideShift, and the adapter on SideShift's clock. */
export class SideShiftHarness {
  readonly provider: SideShiftProvider;
  private readonly processes: SideShiftProvider[] = [];

  private constructor(readonly sideshift: SideShift) {
    this.provider = this.process();
  }

  static async start(): Promise<SideShiftHarness> {
    return new SideShiftHarness(await SideShift.start());
  }

  /** Opens the adapter as another process, possibly with another account. */
  process(
    account: Partial<SideShift['account']> = {},
    { timeoutMs = 30_000, listedAfterMs = 0 } = {},
  ): SideShiftProvider {
    const process = new SideShiftProvider(
      { ...this.sideshift.account, ...account },
      { now: () => new Date(this.sideshift.now()) },
      { timeoutMs, listedAfterMs },
    );
    this.processes.push(process);
    return process;
  }

  async newOrder(over: Partial<NewProviderOrder> = {}) {
    const given = requested(over);
    const order: AgreedOrder = { ...given, ...(await this.provider.create(given)) };
    return { order, shiftId: order.provider_reference };
  }

  get opened(): number {
    return this.sideshift.requests.filter((each) => each === 'POST /shifts/fixed').length;
  }

  async stop(): Promise<void> {
    await Promise.all(this.processes.map((process) => process.onApplicationShutdown()));
    await this.sideshift.shutDown();
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
