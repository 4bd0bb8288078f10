import { randomBytes, randomUUID } from 'node:crypto';
import {
  ActOnOrder,
  ActOnOrderHandler,
  CreateOrder,
  CreateOrderHandler,
  type OrderAction,
  OwnOrders,
} from '../../../src/contexts/exchange/application/order-commands.js';
import {
  OrderPoller,
  recordWatches,
  WatchWorker,
} from '../../../src/contexts/exchange/application/order-watch.js';
import { ExchangeProviders } from '../../../src/contexts/exchange/application/exchange-providers.js';
import {
  existingOrder,
  order,
  ORDER_EVENTS,
  type ExistingOrder,
} from '../../../src/contexts/exchange/domain/order.js';
import { readConfig } from '../../../src/composition.js';
import { systemClock, type Clock } from '../../../src/kernel/clock.js';
import { EventCodec } from '../../../src/platform/event-store/event-codec.js';
import { CommandLoop } from '../../../src/platform/event-store/command-loop.js';
import { IdempotencyTicket } from '../../../src/platform/idempotency/ticket.js';
import { ClockCheck } from '../../../src/platform/postgres/clock-check.js';
import { WorkItems } from '../../../src/platform/jobs/work-items.js';
import { KeyedHash } from '../../../src/platform/sealing/keyed-hash.js';
import { InMemoryEventStore } from '../in-memory-event-store.js';
import { MemoryProvider } from './memory-provider.js';
import { testDatabase, type TestDatabase } from '../postgres.js';

/** The parts of one process that handle orders. */
export interface OrderProcess {
  readonly act: ActOnOrderHandler;
  readonly create: CreateOrderHandler;
  /** Polls once what is due. */
  work(): Promise<void>;
}

/** Orders at an in-memory provider, watched by any number of processes on one database. */
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
    const watcher = new WatchWorker(config, clock, items, poller, providers, null as never);
    const { run } = watcher.work.options;
    return {
      act: new ActOnOrderHandler(loop, new OwnOrders(loop), clock, config, poller),
      create: new CreateOrderHandler(loop, clock, config, providers, new KeyedHash(randomBytes(32))),
      work: async () => void (await run(new AbortController().signal)),
    };
  }

  /** Creates an order that the watch has scheduled. */
  async order(process: OrderProcess): Promise<string> {
    const { order_id } = await process.create.execute(this.creation(randomUUID()));
    await this.follow();
    return order_id;
  }

  creation(key: string): CreateOrder {
    return new CreateOrder(
      {
        key_id: this.keyId,
        merchant_id: this.merchantId,
        pair_id: 'USDCSOL',
        withdraw_address: '7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV',
        withdraw_address_tag: null,
        withdraw_address_memo: null,
        user_id: null,
        caller_address: '192.0.2.1',
        client: '192.0.2.1',
        amount_from: null,
      },
      null,
      // The response was lost, as in a crash on a store that does not carry it.
      new IdempotencyTicket(this.keyId, key),
      {},
    );
  }

  cancellation(orderId: string): ActOnOrder {
    return new ActOnOrder('cancel', this.action(orderId));
  }

  refreshment(orderId: string): ActOnOrder {
    return new ActOnOrder('refresh', this.action(orderId));
  }

  action(orderId: string): OrderAction {
    return { orderId, keyId: this.keyId, complianceNotice: null, cause: {} };
  }

  /** Applies new events to the saga; `from` null: all events again. */
  async follow(from: string | null = this.applied): Promise<void> {
    const events = await this.store.readAll(from, 10_000);
    await this.db.database.transaction((tx) => recordWatches(events, tx));
    this.applied = events.at(-1)?.position ?? from;
  }

  /** Makes all work items due, and ends their leases. */
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
