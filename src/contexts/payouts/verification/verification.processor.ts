import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { chainConfig, type ChainConfig } from '../../../platform/config/config.js';
import { ClockCheck } from '../../../platform/postgres/clock-check.js';
import { Background, BackgroundWork } from '../../../platform/jobs/background-work.js';
import { backoffMs, sleep } from '../../../platform/jobs/backoff.js';
import { pendingPayoutsGauge } from '../payouts.metrics.js';
import { ChainUnavailable } from './chain.ports.js';
import { VerificationRound } from './verification-round.service.js';
import { LINES, VerificationQueue, type PendingPayout } from './verification-queue.store.js';
import { payoutsConfig, type PayoutsConfig } from '../payouts.config.js';

const GAUGE_MS = 10_000;
const NODE_BACKOFF = { firstMs: 1000, maxMs: 10_000 };
/**
 * The pause after a round without an outcome while more payouts are due. `times` multiplies the duration of
 * the round. The pause prevents checks from slowing down a burst of reports.
 */
const REST = { times: 3, longestMs: 2000 } as const;
/** The loops. Payouts without a usable response have a separate loop, so that they delay no others. */
const LOOPS = {
  responsive: { batch: 500, lines: [LINES.fresh, LINES.old], separately: false },
  noResponse: { batch: 4, lines: [LINES.noResponse], separately: true },
} as const;

/** Verifies pending payouts in any number of processes. Pauses without a reliable node or clock. */
@Injectable()
export class VerificationProcessor implements OnApplicationBootstrap {
  private readonly logger = new Logger(VerificationProcessor.name);
  private failures = 0;
  /** The end of the pause in an outage, on the monotonic clock. */
  private unavailableUntil = 0;
  private clockOff = false;
  @Background()
  readonly loops: readonly BackgroundWork[];
  @Background()
  readonly gauge = new BackgroundWork({
    name: 'gauge of pending payouts',
    everyMs: GAUGE_MS,
    run: async () => pendingPayoutsGauge.set(await this.queue.count()),
  });

  constructor(
    @Inject(payoutsConfig.KEY) private readonly config: PayoutsConfig,
    @Inject(chainConfig.KEY) private readonly chainSettings: ChainConfig,
    private readonly queue: VerificationQueue,
    private readonly round: VerificationRound,
    private readonly clockCheck: ClockCheck,
  ) {
    this.loops = [this.loop('responsive'), this.loop('noResponse')];
  }

  onApplicationBootstrap(): void {
    if (this.chainSettings.usdcAddress === null) {
      this.logger.warn({ msg: 'USDC_ADDRESS is not set: payouts stay pending' });
    }
  }

  /** Checks due payouts, at most once per interval, so that many reports share a round. */
  wake(): void {
    for (const loop of this.loops) loop.wake();
  }

  private loop(name: keyof typeof LOOPS): BackgroundWork {
    const { payoutCheckIntervalMs: everyMs } = this.config;
    let nextAt = 0;
    return new BackgroundWork({
      name: `verification of payouts, ${name}`,
      everyMs,
      run: async (signal) => {
        const waitMs = Math.max(0, nextAt - performance.now());
        nextAt = performance.now() + waitMs + everyMs;
        await sleep(waitMs, signal);
        await this.drain(LOOPS[name], signal);
      },
    });
  }

  private async drain(
    { batch, lines, separately }: (typeof LOOPS)[keyof typeof LOOPS],
    signal: AbortSignal,
  ): Promise<void> {
    for (let more = true; more && !signal.aborted && this.chainSettings.usdcAddress !== null;) {
      if (performance.now() < this.unavailableUntil || !(await this.clockHolds())) return;
      const claimed = await this.queue.claim(this.chainSettings.chainId, batch, lines);
      ({ more } = claimed);
      if (claimed.payouts.length === 0) continue;
      try {
        const began = performance.now();
        const ended = await this.queue.whileClaimed(claimed.payouts, () =>
          this.round.run(claimed, separately),
        );
        this.failures = 0;
        const tookMs = performance.now() - began;
        if (more && ended === 0 && !separately)
          await sleep(Math.min(REST.times * tookMs, REST.longestMs), signal);
      } catch (error) {
        if (!(error instanceof ChainUnavailable)) throw error;
        await this.backOff(claimed.payouts, error);
      }
    }
  }

  private async clockHolds(): Promise<boolean> {
    const reason = await this.clockCheck.findFault();
    if (reason !== null && !this.clockOff)
      this.logger.error({ msg: 'verification of payouts paused', reason });
    if (reason === null && this.clockOff)
      this.logger.log({ msg: 'verification of payouts resumed: the clock is right' });
    this.clockOff = reason !== null;
    return !this.clockOff;
  }

  private async backOff(payouts: readonly PendingPayout[], error: ChainUnavailable): Promise<void> {
    this.failures += 1;
    const delayMs = backoffMs(NODE_BACKOFF, this.failures - 1);
    this.unavailableUntil = performance.now() + delayMs;
    this.logger.warn({ msg: 'chain unavailable', reason: error.message, delayMs });
    await this.queue.postpone(payouts, delayMs);
  }
}
