import { ProviderUnavailable } from '../../../src/platform/outbound/provider-errors.js';
import type { ProviderOrder, Quote } from '../../../src/contexts/exchange/domain/order-events.js';
import type { OrderOutcome, ProviderDeposit } from '../../../src/contexts/exchange/domain/observation.js';
import type {
  ExchangeProvider,
  NewProviderOrder,
  ProviderReference,
  ProviderStatus,
  Settlement,
} from '../../../src/contexts/exchange/application/ports.js';

interface Kept {
  readonly order: ProviderOrder;
  deposits: ProviderDeposit[];
  isDepositPending: boolean;
  outcome: OrderOutcome | null;
}

/** A provider with settable responses that records its calls. */
export class MemoryProvider implements ExchangeProvider {
  readonly name = 'memory';
  readonly pairIds = ['USDCSOL'];
  readonly orders = new Map<string, Kept>();
  readonly calls: string[] = [];
  isUnavailable = false;
  /** Refuses settlements and cancellations for now (`later`). */
  acceptsNothing = false;
  /** The validity of a quote in ms. */
  holdsMs = 3_600_000;
  /** The lead of `completeUntil` over the clock in ms. */
  aheadMs = 0;
  /** Called before each response of `status`. */
  beforeStatus: (orderId: string) => Promise<void> | void = () => undefined;

  async quote(): Promise<Quote> {
    return { ...QUOTE, expires_at: this.expiry() };
  }

  async create({ order_id: orderId }: NewProviderOrder): Promise<ProviderOrder> {
    this.record('create');
    const known = this.orders.get(orderId);
    if (known !== undefined) return known.order;
    const reference = `m-${this.orders.size}`;
    const address = { deposit_address: `0x${reference}`, deposit_address_tag: null };
    const order = { ...QUOTE, ...address, provider_reference: reference, expires_at: this.expiry() };
    this.orders.set(orderId, { order, deposits: [], isDepositPending: false, outcome: null });
    return order;
  }

  async status({ order_id: orderId }: ProviderReference): Promise<ProviderStatus> {
    this.record('status');
    await this.beforeStatus(orderId);
    const { deposits, isDepositPending, outcome } = this.order(orderId);
    const completeUntil = new Date(Date.now() + this.aheadMs).toISOString();
    return { deposits: [...deposits], isDepositPending, outcome, completeUntil };
  }

  async settle({ order_id: orderId, amount_to: amountTo }: Settlement): Promise<void> {
    this.record('settle');
    if (this.acceptsNothing) throw new ProviderUnavailable('not yet', 'later');
    this.order(orderId).outcome = { kind: 'completed', transactionHash: '0xout', amountTo };
  }

  async cancel(): Promise<void> {
    this.record('cancel');
    if (this.acceptsNothing) throw new ProviderUnavailable('not yet', 'later');
  }

  async ping(): Promise<void> {
    this.record('ping');
  }

  set(
    change: Partial<
      Pick<MemoryProvider, 'isUnavailable' | 'acceptsNothing' | 'holdsMs' | 'aheadMs' | 'beforeStatus'>
    >,
  ): void {
    Object.assign(this, change);
  }

  /** Adds a deposit. */
  pay(orderId: string, amount: string): void {
    const { deposits } = this.order(orderId);
    deposits.push({
      deposit_id: `${orderId}:${deposits.length}`,
      amount,
      transaction_hash: `0x${deposits.length}`,
      deposited_at: new Date().toISOString(),
    });
  }

  order(orderId: string): Kept {
    const known = this.orders.get(orderId);
    if (known === undefined) throw new Error('no such order');
    return known;
  }

  count(operation: string): number {
    return this.calls.filter((each) => each === operation).length;
  }

  private record(operation: string): void {
    this.calls.push(operation);
    if (this.isUnavailable) throw new ProviderUnavailable('unavailable');
  }

  private expiry(): string {
    return new Date(Date.now() + this.holdsMs).toISOString();
  }
}

const QUOTE = {
  amount_from: '100',
  amount_to: '0.5',
  rate: '0.005',
  minimum: '10',
  maximum: '1000',
};
