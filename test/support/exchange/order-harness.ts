import { randomBytes, randomUUID } from 'node:crypto';
import {
  ActOnOrder,
  ActOnOrderHandler,
  CreateOrder,
  CreateOrderHandler,
  OwnOrders,
} from '../../../src/contexts/exchange/orders/orders.commands.js';
import {
  OrderPoller,
  recordWatches,
  OrderWatchProcessor,
} from '../../../src/contexts/exchange/watch/order-watch.processor.js';
import { ExchangeProviders } from '../../../src/contexts/exchange/providers/exchange-providers.service.js';
import {
  existingOrder,
  order,
  ORDER_EVENTS,
  type ExistingOrder,
} from '../../../src/contexts/exchange/orders/order.js';
import { readConfig } from '../../../src/composition.js';
import { systemClock, type Clock } from '../../../src/kernel/clock.js';
import { EventCodec } from '../../../src/platform/event-store/event-codec.js';
import { CommandLoop } from '../../../src/platform/event-store/command-loop.js';
import { IdempotencyTicket } from '../../../src/platform/idempotency/ticket.js';
import { ClockCheck } from '../../../src/platform/postgres/clock-check.js';
import { WorkItems } from '../../../src/platform/jobs/work-items.js';
import { KeyedHash } from '../../../src/platform/sealing/keyed-hash.js';
import { InMemoryEventStore } from '../in-memory-event-store.js';
import { ADDRESS } from './order-fixtures.js';
import { testDatabase, type TestDatabase } from '../postgres.js';
import { ProviderUnavailable } from '../../../src/platform/outbound/provider-errors.js';
import type { ProviderOrder, Quote } from '../../../src/contexts/exchange/orders/order-events.js';
import type { OrderOutcome, ProviderDeposit } from '../../../src/contexts/exchange/watch/observation.js';
import type {
  AgreedOrder,
  ExchangeProvider,
  NewProviderOrder,
  ProviderStatus,
} from '../../../src/contexts/exchange/providers/exchange-provider.ports.js';

interface Kept {
  readonly order: ProviderOrder;
  deposits: ProviderDeposit[];
  isDepositPending: boolean;
  outcome: OrderOutcome | null;
}

const NO_FAULTS = {
  isUnavailable: false,
  /** True if settling and cancelling fail with `later`. */
  acceptsNothing: false,
  /** The validity of a quote in ms. */
  holdsMs: 3_600_000,
  /** The time in ms by which `completeUntil` is ahead of the clock. */
  aheadMs: 0,
  /** The order for which `status` throws. */
  brokenOrder: null as string | null,
};
type Faults = typeof NO_FAULTS;

/** A provider whose responses a spec sets, and that counts its requests. */
class MemoryProvider implements ExchangeProvider {
  readonly name = 'memory';
  readonly pairIds = ['USDCSOL'];
  readonly orders = new Map<string, Kept>();
  readonly calls: string[] = [];
  private readonly faults: Faults = { ...NO_FAULTS };

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

  async status({ order_id: orderId }: AgreedOrder): Promise<ProviderStatus> {
    this.record('status');
    if (orderId === this.faults.brokenOrder) throw new Error('a bug');
    const { deposits, isDepositPending, outcome } = this.order(orderId);
    const completeUntil = new Date(Date.now() + this.faults.aheadMs).toISOString();
    return { deposits: [...deposits], isDepositPending, outcome, completeUntil };
  }

  async settle({ order_id: orderId, amount_to: amountTo }: AgreedOrder): Promise<void> {
    this.record('settle');
    if (this.faults.acceptsNothing) throw new ProviderUnavailable('not yet', 'later');
    this.order(orderId).outcome = { kind: 'completed', transactionHash: '0xout', amountTo };
  }

  async cancel(): Promise<void> {
    this.record('cancel');
    if (this.faults.acceptsNothing) throw new ProviderUnavailable('not yet', 'later');
  }

  set(change: Partial<Faults>): void {
    Object.assign(this.faults, change);
  }

  /** Resets the provider for the next test. */
  recover(): void {
    this.set(NO_FAULTS);
    this.calls.length = 0;
  }

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
    if (this.faults.isUnavailable) throw new ProviderUnavailable('unavailable');
  }

  private expiry(): string {
    return new Date(Date.now() + this.faults.holdsMs).toISOString();
  }
}

const QUOTE = {
  amount_from: '100',
  amount_to: '0.5',
  rate: '0.005',
  minimum: '10',
  maximum: '1000',
};

export interface OrderProcess {
  readonly act: ActOnOrderHandler;
  readonly create: CreateOrderHandler;
  /** Polls everything that is due once. */
  work(): Promise<void>;
}

/** Orders at a provider in memory, watched by rows of a database, with any number of processes. */
export class OrderHarness {
  readonly provider = new MemoryProvider();
  readonly store = new InMemoryEventStore();
  readonly keyId = randomUUID();
  private readonly merchantId = randomUUID();
  private applied: string | null = null;

  private constructor(readonly db: TestDatabase) {}

  static async open(): Promise<OrderHarness> {
    return new OrderHarness(await testDatabase({ poolSize: 4 }));
  }

  process(clock: Clock = systemClock): OrderProcess {
    const { provider, store } = this;
    const config = readConfig({ EXCHANGE_CHECK_INTERVAL_MS: '50' });
    const codec = new EventCodec().register(ORDER_EVENTS.map((type) => ({ type })));
    const loop = new CommandLoop(store, codec);
    const providers = new ExchangeProviders([provider], provider.name);
    const poller = new OrderPoller(loop, clock, providers, new ClockCheck(config, clock, this.db.database));
    const items = new WorkItems(this.db.database);
    const watcher = new OrderWatchProcessor(config, clock, items, poller, providers, null as never);
    const { run } = watcher.work.options;
    return {
      act: new ActOnOrderHandler(loop, new OwnOrders(loop), clock, config, poller),
      create: new CreateOrderHandler(loop, clock, config, providers, new KeyedHash(randomBytes(32))),
      work: async () => void (await run(new AbortController().signal)),
    };
  }

  /** Creates an order and adds it to the watch. */
  async order(process: OrderProcess): Promise<string> {
    const { order_id } = await process.create.execute(this.creation(randomUUID()));
    await this.follow();
    return order_id;
  }

  async orders(process: OrderProcess, count: number) {
    const ids = await Promise.all(Array.from({ length: count }, () => this.order(process)));
    return ids as [string, string, string, ...string[]];
  }

  creation(key: string): CreateOrder {
    return new CreateOrder(
      {
        key_id: this.keyId,
        merchant_id: this.merchantId,
        pair_id: 'USDCSOL',
        withdraw_address: ADDRESS,
        withdraw_address_tag: null,
        withdraw_address_memo: null,
        user_id: null,
        caller_address: '192.0.2.1',
        client: '192.0.2.1',
        amount_from: null,
      },
      null,
      // Simulates a lost response, like after a crash on a store that does not carry it.
      new IdempotencyTicket(this.keyId, key),
      {},
    );
  }

  cancellation(orderId: string): ActOnOrder {
    return new ActOnOrder('cancel', { orderId, keyId: this.keyId }, {});
  }

  refreshment(orderId: string): ActOnOrder {
    return new ActOnOrder('refresh', { orderId, keyId: this.keyId }, {});
  }

  /** Applies new events to the saga. If `from` is null, applies all of them again. */
  async follow(from: string | null = this.applied): Promise<void> {
    const events = await this.store.readAll(from, 10_000);
    await this.db.database.transaction((tx) => recordWatches(events, tx));
    this.applied = events.at(-1)?.position ?? from;
  }

  /** Makes everything due and expires all leases. */
  async makeDue(): Promise<void> {
    await this.db.database.query('update work.items set due_at = now()');
  }

  async state(orderId: string): Promise<ExistingOrder> {
    const events = await this.store.readStream(`order-${orderId}`);
    return existingOrder(events.reduce((state, event) => order.evolve(state, event as never), order.initial));
  }

  async types(orderId: string): Promise<readonly string[]> {
    return (await this.store.readStream(`order-${orderId}`)).map(({ type }) => type);
  }

  async row(orderId: string): Promise<Readonly<Record<string, unknown>>> {
    const [row] = await this.db.database.query(
      `select failures, cause, state->>'notified' as notified from work.items where key = $1`,
      [orderId],
    );
    return row!;
  }
}
