import { Inject, Injectable, Logger } from '@nestjs/common';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { Background, Periodic } from '../../../platform/jobs/background-work.js';
import { failpoint } from '../../../platform/failpoints.js';
import { DueWork, type WorkOutcome } from '../../../platform/jobs/due-work.js';
import { scheduleWork, wakeWork, WorkItems, type WorkItem } from '../../../platform/jobs/work-items.js';
import {
  subscriptionName,
  type SubscriptionDefinition,
  type Transaction,
} from '../../../platform/projections/projection.js';
import type { WorkList } from '../../../platform/projections/table-check.js';
import { ORDER_EVENTS, type ExistingOrder } from '../domain/order.js';
import type { OrderStatus } from '../domain/order-events.js';
import { MAX_RETRY_MS, nextPoll, WATCH, WATCH_LINES } from '../domain/watch-schedule.js';
import {
  openOrders,
  refundableOrders,
  shortfallOrders,
  watchBacklog,
  watchBacklogAge,
  orderEvents,
} from '../metrics.js';
import { OrdersView } from '../views/orders.js';
import { OrderPoller } from './order-poller.js';
import { ProviderRefused, ProviderUnavailable } from '../../../platform/outbound/provider-errors.js';
import { ExchangeProviders, kindOf } from './exchange-providers.js';
import { exchangeConfig, type ExchangeConfig } from '../settings.js';
import type { RecordedEvent } from '../../../platform/event-store/port.js';
import { Log } from '../../../platform/telemetry/logger.js';

const GAUGE_EVERY_MS = 10_000;
const LATE_MS = 10_000;

/**
 * Polls orders for as long as they may change, and notifies the provider of their results (ADR 117). A poll that outlives
 * its lease is harmless: what follows from two polls is recorded once.
 */
@Injectable()
export class WatchWorker {
  @Background()
  readonly work: DueWork<Watched>;

  constructor(
    @Inject(exchangeConfig.KEY) private readonly config: ExchangeConfig,
    @Inject(CLOCK) private readonly clock: Clock,
    items: WorkItems,
    private readonly poller: OrderPoller,
    private readonly providers: ExchangeProviders,
  ) {
    const { exchangeCheckIntervalMs: everyMs } = config;
    this.work = new DueWork<Watched>(items, {
      kind: WATCH,
      everyMs,
      batch: 20,
      leaseMs: 30_000,
      retry: { firstMs: everyMs, maxMs: MAX_RETRY_MS },
      claims: () => ({ lines: Object.values(WATCH_LINES), except: this.providers.unavailable() }),
      perform: (item) => this.poll(item),
    });
  }

  private async poll({
    key: orderId,
    share: provider,
    state: before,
  }: WorkItem<Watched>): Promise<WorkOutcome> {
    failpoint('order.claimed');
    const { exchangeCheckIntervalMs: intervalMs } = this.config;
    const line = WATCH_LINES.polled;
    try {
      const { state } = await this.poller.poll(orderId);
      const notified = await this.notify(orderId, state, before.notified);
      const nowMs = this.clock.now().getTime();
      const inMs = nextPoll(state, { nowMs, intervalMs, random: Math.random() });
      return inMs === null ? 'done' : { inMs, line, state: { notified } };
    } catch (error) {
      // Errors of providers are logged where they are called.
      const cause = kindOf(error);
      if (!(error instanceof ProviderUnavailable))
        logger.error({ msg: 'order poll failed', order_id: orderId, err: error });
      return this.providers.unavailable().includes(provider)
        ? { inMs: intervalMs, line }
        : { failure: { cause }, line };
    }
  }

  /** Repeats until the provider has accepted the order's result; returns the last notification. */
  private async notify(orderId: string, state: ExistingOrder, last: Watched['notified']) {
    const { status, amountFrom, amountTo, facts } = state;
    const due = NOTIFICATIONS[status];
    if (due === undefined || due === last) return last;
    const reference = { orderId, reference: facts.provider_reference };
    try {
      await this.providers.call(facts.provider, { operation: due, orderId, keyId: null }, (provider) =>
        due === 'settle' ? provider.settle(reference, { amountFrom, amountTo }) : provider.cancel(reference),
      );
    } catch (error) {
      // A provider may refuse to cancel an order that has ended; a settlement is retried.
      if (due === 'settle' || !(error instanceof ProviderRefused)) throw error;
    }
    failpoint(due === 'settle' ? 'order.settled' : 'order.withdrawn');
    return due;
  }
}

const NOTIFICATIONS: { readonly [Status in OrderStatus]?: 'settle' | 'cancel' } = {
  processing: 'settle',
  cancelled: 'cancel',
  expired: 'cancel',
  failed: 'cancel',
};

/** The state of an order's item. An event that comes meanwhile clears it, so that a notification may be repeated. */
interface Watched {
  readonly notified?: 'settle' | 'cancel' | undefined;
}

const logger = new Logger(WatchWorker.name);

/** The subscription that keeps the list of open orders. */
const WATCH_SAGA = subscriptionName('exchange.watch');

/** An order that is not on the list would stay open for ever. */
export const OPEN_ORDERS: WorkList = {
  name: WATCH_SAGA,
  table: 'work.items',
  listed: `kind = '${WATCH}' and key = due.id::text`,
  id: 'order_id',
  begins: 'order.created.v1',
  ends: ['completed', 'cancelled', 'expired', 'failed', 'refunded'].map((status) => `order.${status}.v1`),
};

/** Every order is watched from its first event on until no poll can change it, and polled at once after every other event. */
export function watchSaga(afterCommit: (events: readonly RecordedEvent[]) => void): SubscriptionDefinition {
  return { name: WATCH_SAGA, events: ORDER_EVENTS, apply: recordWatches, afterCommit };
}

export async function recordWatches(events: readonly RecordedEvent[], tx: Transaction): Promise<void> {
  const isNew = ({ type }: RecordedEvent): boolean => type === 'order.created.v1';
  const items = events.filter(isNew).map(({ data }) => ({
    key: data['order_id'] as string,
    share: data['provider'] as string,
    line: WATCH_LINES.polled,
  }));
  await scheduleWork(tx, WATCH, items);
  const ids = events.filter((event) => !isNew(event)).map(({ data }) => data['order_id'] as string);
  await wakeWork(tx, WATCH, ids, WATCH_LINES.woken);
}

/** Keeps the metrics of the orders that are watched. */
@Injectable()
export class WatchGauge {
  constructor(
    private readonly orders: OrdersView,
    private readonly items: WorkItems,
  ) {}

  @Periodic({ name: 'gauge of exchange orders', everyMs: GAUGE_EVERY_MS })
  async measure(): Promise<void> {
    const [{ refundable, shortfall, ...open }, late] = await Promise.all([
      this.orders.totals(),
      this.items.overdue(WATCH, LATE_MS),
    ]);
    for (const [status, count] of Object.entries(open)) openOrders.set({ status }, count);
    refundableOrders.set(refundable);
    shortfallOrders.set(shortfall);
    watchBacklog.set(late.count);
    watchBacklogAge.set(late.seconds);
  }
}

/** Fields that are logged: neither who an order is for, nor where it is paid out to. */
const LOGGED =
  `key_id merchant_id pair_id provider provider_reference deposit_address amount amount_from amount_to
  refundable count reason outcome transaction_hash withdraw_transaction_hash refund_transaction_hash actor`.split(
    /\s+/,
  );

/** Logs and counts every event of an order. */
@Injectable()
export class OrderEventLogger {
  constructor(private readonly log: Log) {}

  record(events: readonly RecordedEvent[]): void {
    for (const { type, data, metadata } of events) {
      orderEvents.inc({ type });
      const fields = Object.fromEntries(
        LOGGED.filter((name) => name in data).map((name) => [name, data[name]]),
      );
      const { order_id } = data;
      this.log.wideLog(type, { order_id, ...fields, request_id: metadata.request_id });
    }
  }
}
