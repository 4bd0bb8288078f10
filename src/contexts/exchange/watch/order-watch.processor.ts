import { Inject, Injectable, Logger } from '@nestjs/common';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { ClaimHeld, type Claim } from '../../../platform/event-store/command-loop-types.js';
import type { EventMetadata, RecordedEvent } from '../../../platform/event-store/port.js';
import { failpoint } from '../../../platform/failpoints.js';
import { ClockCheck } from '../../../platform/postgres/clock-check.js';
import { observe, type Observation } from './observation.js';
import {
  allDeposits,
  isAfter,
  existingOrder,
  order,
  shortfall,
  type ExistingOrder,
  ORDER_EVENTS,
} from '../orders/order.js';
import type { OrderEvent, OrderStatus } from '../orders/order-events.js';
import { ExchangeProviders, kindOf } from '../providers/exchange-providers.service.js';
import { Background, Periodic } from '../../../platform/jobs/background-work.js';
import { DueWork, type WorkOutcome } from '../../../platform/jobs/due-work.js';
import { scheduleWork, wakeWork, WorkItems, type WorkItem } from '../../../platform/jobs/work-items.js';
import {
  subscriptionName,
  type SubscriptionDefinition,
  type Transaction,
} from '../../../platform/projections/projection.js';
import type { WorkList } from '../../../platform/projections/table-check.js';
import { MAX_RETRY_MS, nextPoll, WATCH, WATCH_LINES } from './watch-schedule.js';
import { openOrders, refundableOrders, shortfallOrders, orderEvents } from '../exchange.metrics.js';
import { OrdersView } from '../orders/orders.view.js';
import { ProviderRefused, ProviderUnavailable } from '../../../platform/outbound/provider-errors.js';
import { exchangeConfig, type ExchangeConfig } from '../exchange.config.js';

interface PolledOrder {
  readonly state: ExistingOrder;
  readonly isDepositPending: boolean;
}

/** Polls an order's provider and records the events. Concurrent polls of one order share one call. */
@Injectable()
export class OrderPoller {
  private readonly inFlight = new Map<string, Promise<PolledOrder>>();

  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly providers: ExchangeProviders,
    private readonly clockCheck: ClockCheck,
  ) {}

  /** Polls an order or joins its current poll. Throws `not_found` or ProviderUnavailable. */
  poll(orderId: string, cause?: EventMetadata): Promise<PolledOrder> {
    const known = this.inFlight.get(orderId);
    if (known !== undefined) return known;
    const poll = this.start(orderId, cause).finally(() => this.inFlight.delete(orderId));
    this.inFlight.set(orderId, poll);
    return poll;
  }

  private async start(orderId: string, cause?: EventMetadata): Promise<PolledOrder> {
    const loaded = existingOrder((await this.loop.load(order, orderId)).state);
    const { provider: name, key_id, expires_at } = loaded;
    // A poll of the watch has no cause.
    const call = { operation: 'status', orderId, keyId: cause === undefined ? null : key_id } as const;
    const status = await this.providers.call(name, call, (provider) =>
      provider.status(loaded, allDeposits(loaded)),
    );
    failpoint('order.polled');
    const at = timestamp(this.clock);
    // A process with a wrong clock must not let an order expire.
    const mayEnd = !isAfter(at, expires_at) || (await this.clockCheck.findFault()) === null;
    const completeUntil = mayEnd ? status.completeUntil : null;
    return this.record({ ...status, completeUntil, at }, loaded, cause);
  }

  private async record(
    observation: Observation,
    loaded: ExistingOrder,
    cause: EventMetadata | undefined,
  ): Promise<PolledOrder> {
    const { order_id: orderId } = loaded;
    const { isDepositPending } = observation;
    const expected = observe(observation, loaded);
    if (expected.length === 0) return { state: loaded, isDepositPending };
    try {
      const executed = await this.loop.execute(order, orderId, (current) => observe(observation, current), {
        ...(cause === undefined
          ? { metadata: { actor: 'exchange.watch' }, follows: true }
          : { metadata: cause }),
        claims: toClaims(observation, expected),
      });
      failpoint('order.observed');
      const state = existingOrder(executed.state);
      // Logged as an error, because the order may have been paid out for that deposit.
      for (const { data } of executed.events.filter(({ type }) => type === 'order.deposit_missing.v1')) {
        const msg = 'deposit missing: a reorganisation took it off the chain';
        logger.error({ msg, ...data, status: state.status, shortfall: shortfall(state) });
      }
      return { state, isDepositPending };
    } catch (error) {
      if (!(error instanceof ClaimHeld)) throw error;
      const { claim, owner } = error;
      const msg = 'deposit refused: its transaction is a deposit of another order';
      logger.error({ msg, order_id: orderId, claim: claim.key, owner });
      const deposits = observation.deposits.filter((each) => each.claim !== claim.key);
      return this.record({ ...observation, deposits, hasForeignDeposit: true }, loaded, cause);
    }
  }
}

function toClaims({ deposits }: Observation, events: readonly OrderEvent[]): Claim[] {
  const recorded = new Set(events.flatMap(({ data }) => ('deposit_id' in data ? [data.deposit_id] : [])));
  const keys = deposits.flatMap(({ deposit_id: id, claim }) =>
    claim === undefined || !recorded.has(id) ? [] : [claim],
  );
  return [...new Set(keys)].map((key) => ({
    category: 'deposit',
    key,
    field: 'transaction_hash',
    message: 'is a deposit of another order',
  }));
}

const GAUGE_EVERY_MS = 10_000;

/** Polls orders while they may change, and notifies providers of the results (ADR 117). */
@Injectable()
export class OrderWatchProcessor {
  @Background()
  readonly work: DueWork<Watched>;

  constructor(
    @Inject(exchangeConfig.KEY) private readonly config: ExchangeConfig,
    @Inject(CLOCK) private readonly clock: Clock,
    items: WorkItems,
    private readonly poller: OrderPoller,
    private readonly providers: ExchangeProviders,
    private readonly orders: OrdersView,
  ) {
    const { exchangeCheckIntervalMs: everyMs } = config;
    this.work = new DueWork<Watched>(items, {
      kind: WATCH,
      everyMs,
      batch: 20,
      // A poll that outlives its lease is harmless, because the events of two polls are recorded once.
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
      const notified = await this.notify(state, before.notified);
      const nowMs = this.clock.now().getTime();
      const inMs = nextPoll(state, { nowMs, intervalMs, random: Math.random() });
      return inMs === null ? 'done' : { inMs, line, state: { notified } };
    } catch (error) {
      // ExchangeProviders logs the errors of providers.
      const cause = kindOf(error);
      if (!(error instanceof ProviderUnavailable))
        logger.error({ msg: 'order poll failed', order_id: orderId, err: error });
      return this.providers.unavailable().includes(provider)
        ? { inMs: intervalMs, line }
        : { failure: { cause }, line };
    }
  }

  /** Notifies the provider of a new result of the order. Returns the last notification. */
  private async notify(state: ExistingOrder, last: Watched['notified']) {
    const due = NOTIFICATIONS[state.status];
    if (due === undefined || due === last) return last;
    const call = { operation: due, orderId: state.order_id, keyId: null };
    try {
      await this.providers.call(state.provider, call, (provider) => provider[due](state));
    } catch (error) {
      // A provider may refuse to cancel an order that has ended; a settlement is retried.
      if (due === 'settle' || !(error instanceof ProviderRefused)) throw error;
    }
    failpoint(due === 'settle' ? 'order.settled' : 'order.withdrawn');
    return due;
  }

  @Periodic({ name: 'gauge of exchange orders', everyMs: GAUGE_EVERY_MS })
  async measure(): Promise<void> {
    const { refundable, shortfall, ...open } = await this.orders.totals();
    for (const [status, count] of Object.entries(open)) openOrders.set({ status }, count);
    refundableOrders.set(refundable);
    shortfallOrders.set(shortfall);
  }
}

const NOTIFICATIONS: { readonly [Status in OrderStatus]?: 'settle' | 'cancel' } = {
  processing: 'settle',
  cancelled: 'cancel',
  expired: 'cancel',
  failed: 'cancel',
};

/** The state of a work item. A concurrent event clears it; a notification may then be repeated. */
interface Watched {
  readonly notified?: 'settle' | 'cancel' | undefined;
}

const logger = new Logger(OrderWatchProcessor.name);

const WATCH_SAGA = subscriptionName('exchange.watch');

/** The work list that an audit compares with the log. An open order without an item would never end. */
export const OPEN_ORDERS: WorkList = {
  name: WATCH_SAGA,
  table: 'work.items',
  listed: `kind = '${WATCH}' and key = due.id::text`,
  id: 'order_id',
  begins: 'order.created.v1',
  ends: ['completed', 'cancelled', 'expired', 'failed', 'refunded'].map((status) => `order.${status}.v1`),
};

/** Watches every order until no poll can change it. Each event after the first causes a poll at once. */
export function watchSaga({ work }: OrderWatchProcessor): SubscriptionDefinition {
  return {
    name: WATCH_SAGA,
    events: ORDER_EVENTS,
    apply: recordWatches,
    afterCommit(events) {
      for (const { type } of events) orderEvents.inc({ type });
      work.wake();
    },
  };
}

export async function recordWatches(events: readonly RecordedEvent[], tx: Transaction): Promise<void> {
  const orders = events.map(({ type, data }) => ({
    isNew: type === 'order.created.v1',
    item: { key: data['order_id'] as string, share: data['provider'] as string, line: WATCH_LINES.polled },
  }));
  const created = orders.flatMap(({ isNew, item }) => (isNew ? [item] : []));
  await scheduleWork(tx, WATCH, created);
  const changed = orders.flatMap(({ isNew, item }) => (isNew ? [] : [item.key]));
  await wakeWork(tx, WATCH, changed, WATCH_LINES.woken);
}
