import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CLOCK, type Clock } from '../../kernel/clock.js';
import { CONFIG, type Config } from '../../platform/config/config.js';
import { Wakeable } from '../../platform/wakeable.js';
import { nextCheckDelay, nodeBackoff } from '../domain/check-schedule.js';
import { requiredConfirmations } from '../domain/confirmations.js';
import { expiryReason, judge, type Finding } from '../domain/verification.js';
import { ExpirePayout } from './expire-payout.js';
import { CHAIN_READER, ChainUnavailable, type ChainLook, type ChainReader } from './ports.js';
import { ReceivePayout } from './receive-payout.js';
import { VerificationWork, type NextCheck, type Verification } from './verification-work.js';

/** Payouts looked up in one round. */
const BATCH = 500;
/** Outcomes written at the same time: they travel together in group commits. */
const PARALLEL = 50;

/**
 * Looks pending payouts up on the chain and brings each to its one outcome. Any number of processes share the work.
 * While the node is away nothing is decided: a payout expires only on a look at the chain after its window ended.
 */
@Injectable()
export class Verifier implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(Verifier.name);
  private failures = 0;
  private restUntil = 0;
  private stopping = false;
  private timer: NodeJS.Timeout | null = null;
  private later: NodeJS.Timeout | null = null;
  private lookedAt = -Infinity;
  private readonly work = new Wakeable(
    () => this.drain(),
    (error) => this.logger.warn({ msg: 'payouts are looked up later', error }),
  );

  constructor(
    @Inject(CONFIG)
    private readonly config: Pick<
      Config,
      'roles' | 'chainId' | 'usdcAddress' | 'payoutConfirmations' | 'payoutCheckIntervalMs'
    >,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CHAIN_READER) private readonly chain: ChainReader,
    private readonly table: VerificationWork,
    private readonly commandBus: CommandBus,
  ) {}

  /** Looks for due payouts: at once, or an interval after the last time, so that many reports share one look. */
  wake(): void {
    if (!this.config.roles.includes('worker') || this.config.usdcAddress === null) return;
    const waitMs = this.config.payoutCheckIntervalMs - (performance.now() - this.lookedAt);
    if (waitMs <= 0) {
      this.lookedAt = performance.now();
      this.work.wake();
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
    await this.work.stop();
  }

  private async drain(): Promise<void> {
    while (!this.stopping) {
      if (this.clock.now().getTime() < this.restUntil) return;
      const taken = await this.table.take(this.config.chainId, BATCH);
      if (taken.length === 0) return;
      await this.check(taken);
      // A take that leaves something behind is nearly full.
      if (taken.length < BATCH / 2) return;
    }
  }

  /** One round: one look at the chain for all of them, then an outcome or another date for each. */
  private async check(taken: readonly Verification[]): Promise<void> {
    let look: ChainLook;
    try {
      look = await this.chain.look([
        ...new Set(taken.filter((each) => each.wallet !== null).map((each) => each.hash)),
      ]);
      this.failures = 0;
      this.warnOfSilence(taken, look);
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      await this.rest(taken, error);
      return;
    }
    const next: NextCheck[] = [];
    const ended: string[] = [];
    for (let from = 0; from < taken.length; from += PARALLEL) {
      const part = taken.slice(from, from + PARALLEL);
      const results = await Promise.allSettled(part.map((each) => this.bring(each, look)));
      results.forEach((result, place) => {
        const each = part[place]!;
        if (result.status === 'rejected') {
          this.logger.warn({
            msg: 'outcome not written',
            payoutId: each.payoutId,
            error: result.reason as unknown,
          });
          next.push({ payoutId: each.payoutId, delayMs: this.config.payoutCheckIntervalMs, finding: null });
        } else if (result.value === 'ended') ended.push(each.payoutId);
        else next.push(result.value);
      });
    }
    await this.table.remove(ended);
    await this.table.putBack(next);
  }

  private async bring(each: Verification, look: ChainLook): Promise<'ended' | NextCheck> {
    const receipt = look.receipts.get(each.hash);
    // No usable answer for this one: nothing may be concluded from that.
    if (each.wallet !== null && receipt === undefined) return this.nextCheck(each, 'not_found', null);
    let finding: Finding =
      each.wallet === null
        ? { kind: 'no_wallet' }
        : judge(receipt ?? null, this.expected(each, each.wallet), look.head, each.usedLogs);
    if (finding.kind === 'settled') {
      const { blockNumber, logIndexes } = finding;
      const outcome = await this.commandBus.execute(
        new ReceivePayout(each.payoutId, this.config.chainId, each.hash, blockNumber, logIndexes),
      );
      if (outcome !== 'used') return 'ended';
      finding = { kind: 'already_used' };
    }
    const now = this.clock.now();
    if (now < each.expiresAt) return this.nextCheck(each, finding.kind, finding.kind);
    const expiry = await this.commandBus.execute(new ExpirePayout(each.payoutId, expiryReason(finding)));
    return expiry === 'early' ? this.nextCheck(each, finding.kind, finding.kind) : 'ended';
  }

  private expected(each: Verification, wallet: string): Parameters<typeof judge>[1] {
    return {
      token: this.config.usdcAddress ?? '',
      wallet,
      amountMinor: each.amountMinor,
      confirmations: requiredConfirmations(this.config.chainId, this.config.payoutConfirmations),
    };
  }

  private nextCheck(each: Verification, kind: Finding['kind'], finding: string | null): NextCheck {
    const now = this.clock.now().getTime();
    const untilExpiryMs = each.expiresAt.getTime() - now;
    const delayMs =
      kind === 'no_wallet' && untilExpiryMs > 0
        ? untilExpiryMs
        : nextCheckDelay({
            ageMs: now - each.createdAt.getTime(),
            untilExpiryMs,
            finding: kind,
            intervalMs: this.config.payoutCheckIntervalMs,
            random: Math.random(),
          });
    return { payoutId: each.payoutId, delayMs, finding };
  }

  /** Payouts that a node never answers for stay pending: somebody has to look into it. */
  private warnOfSilence(taken: readonly Verification[], look: ChainLook): void {
    const silent = taken.filter((each) => each.wallet !== null && !look.receipts.has(each.hash));
    if (silent.length === 0) return;
    const payoutId = silent[0]!.payoutId;
    this.logger.warn({ msg: 'the node gave no usable answer for payouts', count: silent.length, payoutId });
  }

  private async rest(taken: readonly Verification[], error: ChainUnavailable): Promise<void> {
    this.failures += 1;
    const delayMs = nodeBackoff(this.failures);
    this.restUntil = this.clock.now().getTime() + delayMs;
    this.logger.warn({ msg: 'the chain is away', reason: error.message, delayMs });
    await this.table.putBack(taken.map(({ payoutId }) => ({ payoutId, delayMs, finding: null })));
  }
}
