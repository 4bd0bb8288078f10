import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { ClockCheck, ClockOff } from '../../../platform/postgres/clock-check.js';
import { BackgroundWork } from '../../../platform/background/background-work.js';
import { pause } from '../../../platform/background/backoff.js';
import { nodeBackoff } from '../domain/check-schedule.js';
import { ChainUnavailable } from './ports.js';
import { VerificationRound } from './verification-round.js';
import { Verifications, type Taken } from '../store/verifications.js';

/** Payouts looked up in one round; of those that the node was silent about each is asked for by itself. */
const BATCH = { prompt: 500, silent: 4 } as const;
type Line = keyof typeof BATCH;

/**
 * Looks pending payouts up on the chain and brings each to its one outcome. Any number of processes share the work.
 * While no node can be relied on, or this process's clock is off, nothing is decided.
 */
@Injectable()
export class Verifier implements OnApplicationBootstrap {
  private readonly logger = new Logger(Verifier.name);
  private failures = 0;
  /** By the clock that never jumps. */
  private restUntil = 0;
  private clockOff = false;
  /** Two loops: payouts that the node takes long for, or is silent about, hold none of the others up. */
  readonly lines: readonly BackgroundWork[];

  constructor(
    @Inject(CONFIG)
    private readonly config: Pick<Config, 'chainId' | 'usdcAddress' | 'payoutCheckIntervalMs'>,
    private readonly table: Verifications,
    private readonly round: VerificationRound,
    private readonly clockCheck: ClockCheck,
  ) {
    this.lines = [this.workOn('prompt'), this.workOn('silent')];
  }

  onApplicationBootstrap(): void {
    if (this.config.usdcAddress === null) {
      this.logger.warn({ msg: 'USDC_ADDRESS is not set: payouts stay pending' });
    }
  }

  /** Looks for due payouts: at once, or an interval after the last time, so that many reports share one look. */
  wake(): void {
    for (const line of this.lines) line.wake();
  }

  private workOn(line: Line): BackgroundWork {
    const { payoutCheckIntervalMs: everyMs } = this.config;
    let mayLookAt = 0;
    return new BackgroundWork({
      name: `verification of payouts, ${line}`,
      everyMs,
      run: async (signal) => {
        const waitMs = Math.max(0, mayLookAt - performance.now());
        mayLookAt = performance.now() + waitMs + everyMs;
        await pause(waitMs, signal);
        await this.drain(line, signal);
      },
    });
  }

  private async drain(line: Line, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.config.usdcAddress !== null) {
      if (performance.now() < this.restUntil || !(await this.clockHolds())) return;
      const taken = await this.table.take(this.config.chainId, BATCH[line], line);
      if (taken.work.length === 0) return;
      try {
        await this.round.play(taken, line === 'silent');
        this.failures = 0;
      } catch (error) {
        if (!(error instanceof ChainUnavailable)) throw error;
        await this.rest(taken, error);
        return;
      }
      if (!taken.more) return;
    }
  }

  private async clockHolds(): Promise<boolean> {
    try {
      await this.clockCheck.check();
    } catch (error) {
      if (!(error instanceof ClockOff)) throw error;
      if (!this.clockOff)
        this.logger.error({ msg: 'payouts are left to other processes', reason: error.message });
      this.clockOff = true;
      return false;
    }
    if (this.clockOff) this.logger.log({ msg: 'payouts are looked up again: the clock is right' });
    this.clockOff = false;
    return true;
  }

  private async rest({ work }: Taken, error: ChainUnavailable): Promise<void> {
    this.failures += 1;
    const delayMs = nodeBackoff(this.failures);
    this.restUntil = performance.now() + delayMs;
    this.logger.warn({ msg: 'the chain is unavailable', reason: error.message, delayMs });
    await this.table.postpone(
      work.map(({ payoutId }) => payoutId),
      delayMs,
    );
  }
}
