import { Inject, Injectable, Logger } from '@nestjs/common';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { BackgroundWork } from '../../../platform/background/background-work.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { failpoint } from '../../../platform/failpoints.js';
import { owed, shortfall, type MadeOrder } from '../domain/order.js';
import { nextLook, silence } from '../domain/watch-schedule.js';
import { Watches, type Told, type Watch } from '../store/watches.js';
import { OrderLook } from './order-look.js';
import { ProviderRefused, ProviderUnavailable } from './ports.js';
import { ProviderCalls } from './provider-calls.js';

/** Orders looked at together. */
const BATCH = 20;

/**
 * Looks at orders for as long as anything may become of them, and tells the provider what they came to. Any number of
 * processes share the work; what is left undone by one that is killed is done by another (ADR 117).
 */
@Injectable()
export class OrderWatcher {
  private readonly logger = new Logger(OrderWatcher.name);
  readonly work: BackgroundWork;

  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'exchangeCheckIntervalMs'>,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly watches: Watches,
    private readonly orders: OrderLook,
    private readonly calls: ProviderCalls,
  ) {
    this.work = new BackgroundWork({
      name: 'watch of exchange orders',
      everyMs: config.exchangeCheckIntervalMs,
      run: (signal) => this.drain(signal),
    });
  }

  private async drain(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const taken = await this.watches.take(BATCH, this.calls.resting());
      failpoint('order.taken');
      await Promise.all(taken.map((watch) => this.visit(watch)));
      if (taken.length < BATCH) return;
    }
  }

  private async visit(watch: Watch): Promise<void> {
    const { exchangeCheckIntervalMs: intervalMs } = this.config;
    const later = silence(watch.failures, intervalMs);
    try {
      const { state } = await this.orders.look(watch.orderId);
      const told = await this.tell(watch, state);
      const nowMs = this.clock.now().getTime();
      await this.watches.putBack(watch, {
        status: state.status,
        owed: owed(state),
        shortfall: shortfall(state),
        lateOutcomes: state.lateOutcomes,
        told: told === 'failed' ? watch.told : told,
        hasFailed: told === 'failed',
        delayMs: told === 'failed' ? later : nextLook(state, { nowMs, intervalMs, random: Math.random() }),
      });
    } catch (error) {
      this.report(watch, error);
      const rests = this.calls.resting().includes(watch.provider);
      await this.watches.postpone(watch, rests ? intervalMs : later, !rests);
    }
  }

  /** What a provider says wrong is logged where it is called. */
  private report({ orderId }: Watch, error: unknown): void {
    if (!(error instanceof ProviderUnavailable))
      this.logger.error({ msg: 'an order could not be looked at', order_id: orderId, error });
  }

  /** Until the provider has taken what the order came to; what was told at last, or `failed`. */
  private async tell(watch: Watch, state: MadeOrder): Promise<Told | 'failed'> {
    const due = toBeTold(state);
    if (due === null || due === watch.told) return watch.told;
    const { amountFrom, amountTo, facts } = state;
    const at = { orderId: watch.orderId, reference: facts.provider_reference };
    try {
      await this.calls.call(facts.provider, null, (provider) =>
        due === 'settle' ? provider.settle(at, { amountFrom, amountTo }) : provider.cancel(at),
      );
    } catch (error) {
      // Of an order that is over for good the provider need not know; one that is to be paid out is tried again.
      if (due === 'settle' || !(error instanceof ProviderRefused)) {
        this.report(watch, error);
        return 'failed';
      }
    }
    failpoint(due === 'settle' ? 'order.settled' : 'order.withdrawn');
    return due;
  }
}

function toBeTold({ status }: MadeOrder): Told {
  if (status === 'processing') return 'settle';
  return status === 'cancelled' || status === 'expired' || status === 'failed' ? 'cancel' : null;
}
