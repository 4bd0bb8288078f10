import { Inject, Injectable, Logger } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { chainRules, type ChainRules } from '../../../platform/chain/chain-rules.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { finalAge, payoutChecks, verificationDelay } from '../metrics.js';
import { nextCheckDelay, noResponseBackoff } from '../domain/check-schedule.js';
import {
  closingName,
  isSecondCheck,
  quorumFinding,
  expiryReason,
  findingOf,
  type Finding,
} from '../domain/verification.js';
import { ExpirePayout, ReceivePayout } from './payout-outcomes.js';
import type { SeenTransfer } from '../domain/payout.js';
import { isHash } from '../domain/payout-events.js';
import { VerificationRowCheck } from './verification-row-check.js';
import { PayeeCache } from './payee-cache.js';
import {
  CHAIN_READER,
  ChainUnavailable,
  NodeLimited,
  requestedTransactions,
  type ChainObservation,
  type ChainReader,
  type RequestedTransaction,
} from './ports.js';
import { PayoutChecks } from '../store/payout-checks.js';
import { Receipts } from '../store/receipts.js';
import {
  VerificationQueue,
  type Claimed,
  type NextCheck,
  type PendingPayout,
} from '../store/verification-queue.js';
import {
  checkOf,
  noResponseOf,
  settledBy,
  sourcesIn,
  type PayoutCheck,
  type Verdict,
} from '../domain/verdict.js';

/** Outcomes written at the same time: they travel together in group commits. */
const PARALLEL = 50;

/** The payout has its outcome. */
interface Ended {
  readonly ended: Finding['kind'];
}

/**
 * One observation of the chain for all claimed payouts; another, which has to agree with itself and across CHAIN_QUORUM
 * nodes, for those that it would end; then an outcome or another date for each.
 */
@Injectable()
export class VerificationRound {
  private readonly logger = new Logger(VerificationRound.name);
  private readonly rules: ChainRules;

  constructor(
    @Inject(CONFIG)
    private readonly config: Pick<
      Config,
      | 'chainId'
      | 'usdcAddress'
      | 'chainQuorum'
      | 'chainMaxHeadAgeSeconds'
      | 'payoutFinality'
      | 'payoutExpiryMarginSeconds'
      | 'payoutCheckIntervalMs'
    >,
    @Inject(CHAIN_READER) private readonly chain: ChainReader,
    private readonly queue: VerificationQueue,
    private readonly checks: PayoutChecks,
    private readonly receipts: Receipts,
    private readonly commandBus: CommandBus,
    private readonly payees: PayeeCache,
    private readonly rowCheck: VerificationRowCheck,
  ) {
    this.rules = chainRules(config);
  }

  /**
   * `separately`: one request per payout instead of batches. Returns how many payouts have their outcome now. Throws
   * ChainUnavailable when no node can be relied on.
   */
  async run({ payouts, now: claimedAt }: Claimed, separately: boolean): Promise<number> {
    const began = performance.now();
    const now = (): Date => new Date(claimedAt.getTime() + performance.now() - began);
    // A batch holds the payouts of few merchants: what one of them does to it concerns few others.
    const claimed = [...payouts].sort((a, b) => (a.merchantId < b.merchantId ? -1 : 1));
    const observed = await this.observe(claimed, separately, now);
    finalAge.set(claimedAt.getTime() / 1000 - observed.final.timestamp);
    this.warnOfNoResponse(claimed, observed);
    const first = new Map(claimed.map((each) => [each, this.findingIn(observed, each)]));
    const mayEnd = claimed.filter((each) => {
      const finding = first.get(each) ?? null;
      return finding !== null && (finding.kind === 'settled' || this.isOver(each, observed, now()));
    });
    const matching = await Promise.all(
      mayEnd.map((each) => this.rowCheck.matchesEvents(each, this.config.chainId)),
    );
    const ending = mayEnd.filter((_, place) => matching[place]);
    const changed = new Set(mayEnd.filter((_, place) => !matching[place]));
    const confirmed = ending.length === 0 ? [] : await this.confirm(ending, separately);
    const verdicts = new Map(ending.map((each) => [each, this.verdictOf(each, confirmed, now())]));
    // Before the events that name them: what is left over when the process dies in between does no harm.
    await this.receipts.keep(sourcesIn(verdicts.values()));
    const next: NextCheck[] = [];
    const ended: string[] = [];
    const checks: PayoutCheck[] = [];
    for (let from = 0; from < claimed.length; from += PARALLEL) {
      const part = claimed.slice(from, from + PARALLEL);
      const results = await Promise.allSettled(
        part.map((each) =>
          verdicts.has(each)
            ? this.end(each, verdicts.get(each)!, confirmed, now())
            : this.nextCheck(each, first.get(each)!, now()),
        ),
      );
      results.forEach((result, place) => {
        const payout = part[place]!;
        if (result.status === 'rejected') {
          const { payoutId: payout_id } = payout;
          this.logger.warn({ msg: 'payout outcome not written', payout_id, err: result.reason as unknown });
          next.push({ payout, delayMs: this.config.payoutCheckIntervalMs, finding: 'not_written' });
          checks.push(checkOf(payout, 'not_written', observed));
          return;
        }
        if ('ended' in result.value) {
          ended.push(payout.payoutId);
          checks.push(checkOf(payout, result.value.ended, observed));
          return;
        }
        const { finding } = result.value;
        next.push({ ...result.value, isLarge: observed.receipts.get(payout.hash)?.partial });
        const wasNotConfirmed = verdicts.get(payout) === null ? 'not_confirmed' : null;
        const wasChanged = changed.has(payout) ? 'row_changed' : null;
        checks.push(checkOf(payout, wasNotConfirmed ?? wasChanged ?? finding ?? 'no_response', observed));
      });
    }
    await this.checks.record(checks, now());
    await this.queue.remove(ended);
    await this.queue.reschedule(next, now(), claimedAt);
    return ended.length;
  }

  /** People see that no node responded; the next check takes the place of this one. */
  private async observe(
    claimed: readonly PendingPayout[],
    separately: boolean,
    now: () => Date,
  ): Promise<ChainObservation> {
    try {
      return await this.chain.read(transactionsOf(claimed), { separately });
    } catch (error) {
      if (error instanceof ChainUnavailable) {
        const finding = error instanceof NodeLimited ? 'rate_limited' : 'no_response';
        await this.checks.record(
          claimed.map((each) => noResponseOf(each, finding)),
          now(),
        );
      }
      throw error;
    }
  }

  /** None when too few nodes can be relied on: the others of the round do not wait for that. */
  private async confirm(
    ending: readonly PendingPayout[],
    separately: boolean,
  ): Promise<readonly ChainObservation[]> {
    try {
      return await this.chain.confirm(transactionsOf(ending), { separately });
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      this.logger.warn({ msg: 'payouts not confirmed', count: ending.length, reason: error.message });
      return [];
    }
  }

  /** Null when the node gave no usable response. */
  private findingIn(observed: ChainObservation, each: PendingPayout): Finding | null {
    if (!isHash(each.hash)) return { kind: 'not_a_hash' };
    if (each.wallet === null) return { kind: 'no_wallet' };
    const receipt = observed.receipts.get(each.hash);
    if (receipt === undefined) return null;
    const expected = {
      token: this.config.usdcAddress ?? '',
      wallet: each.wallet,
      amountMinor: each.amountMinor,
    };
    return findingOf(receipt, expected, observed.final.number, each.usedLogs);
  }

  /** Whether the window has ended by the database's clock and, where blocks have times, by that of the newest final block. */
  private isOver(each: PendingPayout, { final }: ChainObservation, now: Date): boolean {
    const endMs = this.endOf(each);
    if (now.getTime() < endMs) return false;
    return this.rules.maxHeadAgeSeconds === 0 || final.timestamp * 1000 >= endMs;
  }

  private endOf({ expiresAt }: PendingPayout): number {
    return expiresAt.getTime() + this.rules.expiryMarginSeconds * 1000;
  }

  /** Receives a payout, or lets it expire, when the observations agree on it. */
  private async end(
    each: PendingPayout,
    verdict: Verdict | null,
    confirmed: readonly ChainObservation[],
    now: Date,
  ): Promise<Ended | NextCheck> {
    if (verdict === null) {
      payoutChecks.inc({ outcome: 'not_confirmed' });
      return this.nextCheck(each, null, now);
    }
    let { finding } = verdict;
    if (finding.kind === 'settled') {
      const began = performance.now();
      const outcome = await this.commandBus.execute(
        new ReceivePayout(each.payoutId, this.config.chainId, each.hash, finding.transfers),
      );
      if (outcome === 'received')
        verificationDelay.observe(
          secondsSinceFinal(each, finding.transfers, now) + (performance.now() - began) / 1000,
        );
      if (outcome !== 'used') return { ended: finding.kind };
      finding = { kind: 'already_used' };
    }
    if (!confirmed.every((observed) => this.isOver(each, observed, now)))
      return this.nextCheck(each, finding, now);
    const closing = { finding: closingName(finding), head: verdict.head, at: now };
    const apartMs = Math.max(this.config.payoutCheckIntervalMs, this.rules.expiryMarginSeconds * 1000);
    const rules = { apartMs, requiresNewerHead: this.rules.maxHeadAgeSeconds > 0 };
    if (!isSecondCheck(each.closing, closing, rules))
      return { payout: each, delayMs: apartMs, finding: finding.kind, closing };
    // The wallets of the table follow the events, and may be behind them.
    if (finding.kind === 'no_wallet' && (await this.payees.walletOf(each.userId, { fresh: true })) !== null)
      return this.nextCheck(each, finding, now);
    const expiry = await this.commandBus.execute(new ExpirePayout(each.payoutId, expiryReason(finding)));
    return expiry === 'early' ? this.nextCheck(each, finding, now) : { ended: finding.kind };
  }

  private verdictOf(each: PendingPayout, confirmed: readonly ChainObservation[], now: Date): Verdict | null {
    // Before the window has ended for a node it can say that a transfer is there, and not that it is missing.
    const findings = confirmed.map((observed) => {
      const finding = this.findingIn(observed, each);
      return finding?.kind === 'settled' || this.isOver(each, observed, now) ? finding : null;
    });
    const finding = quorumFinding(findings, this.config.chainQuorum);
    if (finding === null) return null;
    const head = Math.min(...confirmed.map((observed) => observed.final.number));
    if (finding.kind !== 'settled') return { finding, head };
    const agreeing = confirmed[findings.indexOf(finding)]!;
    const settled = settledBy(agreeing, finding, each, this.config.usdcAddress ?? '');
    return settled === null ? null : { finding: { kind: 'settled', ...settled }, head };
  }

  private async nextCheck(payout: PendingPayout, finding: Finding | null, now: Date): Promise<NextCheck> {
    const intervalMs = this.config.payoutCheckIntervalMs;
    payoutChecks.inc({ outcome: finding === null ? 'no_response' : 'responded' });
    if (finding === null)
      return { payout, delayMs: noResponseBackoff(payout.noResponses, intervalMs), finding: null };
    const untilExpiryMs = this.endOf(payout) - now.getTime();
    const ageMs = now.getTime() - payout.createdAt.getTime();
    const delayMs =
      (finding.kind === 'no_wallet' || finding.kind === 'not_a_hash') && untilExpiryMs > 0
        ? untilExpiryMs
        : nextCheckDelay({
            ageMs,
            untilExpiryMs,
            finding: finding.kind,
            intervalMs,
            random: Math.random(),
          });
    return { payout, delayMs, finding: finding.kind };
  }

  /** Payouts that no node ever has a usable response for stay pending until an operator acts. */
  private warnOfNoResponse(claimed: readonly PendingPayout[], observed: ChainObservation): void {
    const withoutResponse = claimed.filter(
      (each) => each.wallet !== null && !observed.receipts.has(each.hash),
    );
    if (withoutResponse.length === 0) return;
    this.logger.warn({
      msg: 'payouts not checked: no usable response of the node',
      count: withoutResponse.length,
      payout_id: withoutResponse[0]!.payoutId,
      reasons: observed.refusals,
    });
  }
}

/** At most: when the transfer became final is not known, but these times were before that. */
function secondsSinceFinal(
  { createdAt, notFinalAt }: PendingPayout,
  [transfer]: readonly SeenTransfer[],
  now: Date,
): number {
  const blockMs = transfer === undefined ? 0 : Date.parse(transfer.block_time);
  const sinceMs = Math.max(createdAt.getTime(), notFinalAt?.getTime() ?? 0, blockMs);
  return Math.max(0, now.getTime() - sinceMs) / 1000;
}

function transactionsOf(claimed: readonly PendingPayout[]): readonly RequestedTransaction[] {
  return requestedTransactions(
    claimed.map(({ hash, wallet, merchantId: group }) => ({ hash, wallet, group })),
  );
}
