import { Inject, Injectable, Logger } from '@nestjs/common';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { Background, BackgroundWork } from '../../../platform/background/background-work.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { failpoint } from '../../../platform/failpoints.js';
import { DueWork } from '../../../platform/work/due-work.js';
import { WorkItems, type Next, type WorkItem } from '../../../platform/work/work-items.js';
import { amountRefundable, shortfall, type ExistingOrder } from '../domain/order.js';
import { nextPoll, retryAfter } from '../domain/watch-schedule.js';
import { openOrders, refundableOrders, shortfallOrders, watchBacklog, watchBacklogAge } from '../metrics.js';
import { WATCH, WATCH_LINES, Watches, type Notification } from '../store/watches.js';
import { OrderPoller } from './order-poller.js';
import { ProviderRefused, ProviderUnavailable } from '../../../platform/outbound/provider-errors.js';
import { ExchangeProviders } from './provider-calls.js';

const GAUGE_EVERY_MS = 10_000;

/**
 * Polls orders for as long as they may change, and notifies the provider of their results (ADR 117). A poll that outlives
 * its lease is harmless: what follows from two polls is recorded once.
 */
@Injectable()
export class OrderWatcher {
  private readonly logger = new Logger(OrderWatcher.name);
  @Background()
  readonly work: DueWork;

  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'exchangeCheckIntervalMs'>,
    @Inject(CLOCK) private readonly clock: Clock,
    items: WorkItems,
    private readonly watches: Watches,
    private readonly poller: OrderPoller,
    private readonly providers: ExchangeProviders,
  ) {
    const { exchangeCheckIntervalMs: everyMs } = config;
    this.work = new DueWork(items, {
      kind: WATCH,
      everyMs,
      batch: 20,
      leaseMs: 30_000,
      retry: { firstMs: everyMs, maxMs: everyMs },
      claims: () => ({ lines: Object.values(WATCH_LINES), except: this.providers.unavailable() }),
      perform: (item) => this.poll(item),
    });
  }

  private async poll({ key: orderId, share: provider, failures }: WorkItem): Promise<Next | 'done'> {
    failpoint('order.claimed');
    const { exchangeCheckIntervalMs: intervalMs } = this.config;
    const line = WATCH_LINES.polled;
    try {
      const { state } = await this.poller.poll(orderId);
      const { status, lateOutcomes } = state;
      const found = {
        status,
        refundable: amountRefundable(state),
        shortfall: shortfall(state),
        lateOutcomes,
      };
      await this.notify(orderId, state, await this.watches.record(orderId, found));
      const nowMs = this.clock.now().getTime();
      const inMs = nextPoll(state, { nowMs, intervalMs, random: Math.random() });
      return inMs === null ? 'done' : { inMs, line };
    } catch (error) {
      // Errors of providers are logged where they are called.
      if (!(error instanceof ProviderUnavailable))
        this.logger.error({ msg: 'order poll failed', order_id: orderId, error });
      if (this.providers.unavailable().includes(provider)) return { inMs: intervalMs, line };
      return { inMs: retryAfter(failures, intervalMs), failure: { cause: String(error) }, line };
    }
  }

  /** Until the provider has accepted the result of the order. */
  private async notify(orderId: string, state: ExistingOrder, last: Notification): Promise<void> {
    const due = notificationOf(state);
    if (due === null || due === last) return;
    const { amountFrom, amountTo, facts } = state;
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
    await this.watches.notified(orderId, due);
  }
}

function notificationOf({ status }: ExistingOrder): Notification {
  if (status === 'processing') return 'settle';
  return status === 'cancelled' || status === 'expired' || status === 'failed' ? 'cancel' : null;
}

/** Keeps the metrics of the orders that are watched. */
@Injectable()
export class WatchGauge {
  @Background()
  readonly work = new BackgroundWork({
    name: 'gauge of exchange orders',
    everyMs: GAUGE_EVERY_MS,
    run: () => this.measure(),
  });

  constructor(private readonly watches: Watches) {}

  private async measure(): Promise<void> {
    const { open, refundable, shortfall, late, lateSeconds } = await this.watches.totals();
    for (const status of ['pending', 'paid', 'processing']) openOrders.set({ status }, open[status] ?? 0);
    refundableOrders.set(refundable);
    shortfallOrders.set(shortfall);
    watchBacklog.set(late);
    watchBacklogAge.set(lateSeconds);
  }
}
