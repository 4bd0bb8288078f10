import { Inject, Injectable, Logger } from '@nestjs/common';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { failpoint } from '../../../platform/failpoints.js';
import { DueWork } from '../../../platform/work/due-work.js';
import { WorkItems, type Next, type WorkItem } from '../../../platform/work/work-items.js';
import { owed, shortfall, type MadeOrder } from '../domain/order.js';
import { nextLook, silence } from '../domain/watch-schedule.js';
import { WATCH, WATCH_LINES, Watches, type Told } from '../store/watches.js';
import { OrderLook } from './order-look.js';
import { ProviderRefused, ProviderUnavailable } from './ports.js';
import { ProviderCalls } from './provider-calls.js';

/**
 * Polls orders for as long as anything may become of them, and notifies the provider of what they came to (ADR 117). A poll
 * that outlives its lease is harmless: what follows from two is written once.
 */
@Injectable()
export class OrderWatcher {
  private readonly logger = new Logger(OrderWatcher.name);
  readonly work: DueWork;

  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'exchangeCheckIntervalMs'>,
    @Inject(CLOCK) private readonly clock: Clock,
    items: WorkItems,
    private readonly watches: Watches,
    private readonly orders: OrderLook,
    private readonly calls: ProviderCalls,
  ) {
    const { exchangeCheckIntervalMs: everyMs } = config;
    this.work = new DueWork(items, {
      kind: WATCH,
      everyMs,
      batch: 20,
      leaseMs: 30_000,
      retry: { firstMs: everyMs, mostMs: everyMs },
      claims: () => ({ lines: Object.values(WATCH_LINES), except: this.calls.resting() }),
      perform: (item) => this.poll(item),
    });
  }

  private async poll({ key: orderId, share: provider, failures }: WorkItem): Promise<Next | 'done'> {
    failpoint('order.taken');
    const { exchangeCheckIntervalMs: intervalMs } = this.config;
    const line = WATCH_LINES.polled;
    try {
      const { state } = await this.orders.look(orderId);
      const { status, lateOutcomes } = state;
      const found = { status, owed: owed(state), shortfall: shortfall(state), lateOutcomes };
      await this.notify(orderId, state, await this.watches.record(orderId, found));
      const nowMs = this.clock.now().getTime();
      const inMs = nextLook(state, { nowMs, intervalMs, random: Math.random() });
      return inMs === null ? 'done' : { inMs, line };
    } catch (error) {
      // What a provider says wrong is logged where it is called.
      if (!(error instanceof ProviderUnavailable))
        this.logger.error({ msg: 'order poll failed', order_id: orderId, error });
      if (this.calls.resting().includes(provider)) return { inMs: intervalMs, line };
      return { inMs: silence(failures, intervalMs), failure: { cause: String(error) }, line };
    }
  }

  /** Until the provider has accepted what the order came to. */
  private async notify(orderId: string, state: MadeOrder, told: Told): Promise<void> {
    const due = notificationOf(state);
    if (due === null || due === told) return;
    const { amountFrom, amountTo, facts } = state;
    const at = { orderId, reference: facts.provider_reference };
    try {
      await this.calls.call(facts.provider, null, (provider) =>
        due === 'settle' ? provider.settle(at, { amountFrom, amountTo }) : provider.cancel(at),
      );
    } catch (error) {
      // Of an order that is over for good the provider need not know; one that is to be paid out is tried again.
      if (due === 'settle' || !(error instanceof ProviderRefused)) throw error;
    }
    failpoint(due === 'settle' ? 'order.settled' : 'order.withdrawn');
    await this.watches.notified(orderId, due);
  }
}

function notificationOf({ status }: MadeOrder): Told {
  if (status === 'processing') return 'settle';
  return status === 'cancelled' || status === 'expired' || status === 'failed' ? 'cancel' : null;
}
