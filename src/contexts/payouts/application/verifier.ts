import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { ClockCheck, ClockOff } from '../../../platform/postgres/clock-check.js';
import { Wakeable } from '../../../platform/background/wakeable.js';
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
export class Verifier implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(Verifier.name);
  private failures = 0;
  /** By the clock that never jumps. */
  private restUntil = 0;
  private clockOff = false;
  private stopping = false;
  private timer: NodeJS.Timeout | null = null;
  private later: NodeJS.Timeout | null = null;
  private lookedAt = -Infinity;
  /** Two loops: payouts that the node takes long for, or is silent about, hold none of the others up. */
  private readonly lines = (['prompt', 'silent'] as const).map(
    (line) =>
      new Wakeable(
        () => this.drain(line),
        (error) => this.logger.warn({ msg: 'payouts are looked up later', error }),
      ),
  );

  constructor(
    @Inject(CONFIG)
    private readonly config: Pick<Config, 'roles' | 'chainId' | 'usdcAddress' | 'payoutCheckIntervalMs'>,
    private readonly table: Verifications,
    private readonly round: VerificationRound,
    private readonly clockCheck: ClockCheck,
  ) {}

  /** Looks for due payouts: at once, or an interval after the last time, so that many reports share one look. */
  wake(): void {
    if (!this.config.roles.includes('worker') || this.config.usdcAddress === null) return;
    const waitMs = this.config.payoutCheckIntervalMs - (performance.now() - this.lookedAt);
    if (waitMs <= 0) {
      this.lookedAt = performance.now();
      for (const line of this.lines) line.wake();
    } else {
      this.later ??= setTimeout(() => {
        this.later = null;
        this.wake();
      }, waitMs + 1).unref();
    }
  }

  onApplicationBootstrap(): void {
    if (this.config.usdcAddress === null) {
      this.logger.warn({ msg: 'USDC_ADDRESS is not set: payouts stay pending' });
    }
    this.timer = setInterval(() => this.wake(), this.config.payoutCheckIntervalMs).unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    if (this.timer !== null) clearInterval(this.timer);
    if (this.later !== null) clearTimeout(this.later);
    await Promise.all(this.lines.map((line) => line.stop()));
  }

  private async drain(line: Line): Promise<void> {
    while (!this.stopping) {
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
    this.logger.warn({ msg: 'the chain is away', reason: error.message, delayMs });
    await this.table.postpone(
      work.map(({ payoutId }) => payoutId),
      delayMs,
    );
  }
}
