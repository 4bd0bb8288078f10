import { Inject, Injectable, Logger } from '@nestjs/common';
import { inParallel } from '../../../kernel/in-parallel.js';
import { chainRules, type ChainRules } from '../../../platform/chain/chain-rules.js';
import { finalAge, payoutChecks, verificationDelay } from '../metrics.js';
import { nextCheckDelay, noResponseBackoff } from '../domain/check-schedule.js';
import {
  closingName,
  countConfirmations,
  isSecondCheck,
  quorumFinding,
  expiryReason,
  toFinding,
  recordedTransfers,
  type CheckFinding,
  type Finding,
  type ReceiptSource,
} from '../domain/verification.js';
import { PayoutOutcomes } from './payout-outcomes.js';
import { isHash, type TransferSighting } from '../domain/payout-events.js';
import { PayeeCache } from './report-payout.js';
import {
  CHAIN_READER,
  ChainUnavailable,
  NodeLimited,
  requestedTransactions,
  type ChainObservation,
  type ChainReader,
} from './ports.js';
import { PayoutChecks, type CheckFacts } from '../store/payout-checks.js';
import { Receipts } from '../store/receipts.js';
import {
  VerificationQueue,
  type Claimed,
  type NextCheck,
  type PendingPayout,
} from '../store/verification-queue.js';
import { payoutsConfig, type PayoutsConfig } from '../settings.js';
import { chainConfig, type ChainConfig } from '../../../platform/config/config.js';

/** Outcomes written at the same time: they travel together in group commits. */
const PARALLEL = 50;
/** Users read at the same time. */
const USERS_AT_A_TIME = 16;

/** The common result of a quorum of nodes, with the height of the newest block that is final for all of them. */
interface Verdict {
  readonly finding: Finding;
  readonly head: number;
  /** The transfers; empty unless the finding is `settled`. */
  readonly transfers: readonly TransferSighting[];
  readonly source?: ReceiptSource | undefined;
}

/** The finding of a check, for people, and the time of the next check; null once the payout has its outcome. */
interface Checked {
  readonly found: CheckFinding;
  readonly next: NextCheck | null;
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
    @Inject(payoutsConfig.KEY) private readonly config: PayoutsConfig,
    @Inject(chainConfig.KEY) private readonly chainSettings: ChainConfig,
    @Inject(CHAIN_READER) private readonly chain: ChainReader,
    private readonly queue: VerificationQueue,
    private readonly checks: PayoutChecks,
    private readonly receipts: Receipts,
    private readonly outcomes: PayoutOutcomes,
    private readonly payees: PayeeCache,
  ) {
    this.rules = chainRules(chainSettings);
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
    // The wallets come from events, which a writer of the database cannot change.
    const wallets = await inParallel(claimed, USERS_AT_A_TIME, ({ payoutId, userId }) =>
      this.payees.findWallet(userId).catch((error: unknown) => {
        this.logger.warn({ msg: 'user not read', payout_id: payoutId, err: error });
        return undefined;
      }),
    );
    claimed.forEach((each, place) => (each.wallet = wallets[place]));
    const observed = await this.observe(claimed, separately, now);
    finalAge.set(claimedAt.getTime() / 1000 - observed.final.timestamp);
    this.warnOfNoResponse(claimed, observed);
    const ending = claimed.filter((each) => this.endingIn(observed, each, now()) !== null);
    const confirmed = ending.length === 0 ? [] : await this.confirm(ending, separately);
    const verdicts = new Map(ending.map((each) => [each, this.toVerdict(each, confirmed, now())]));
    // The receipts precede the events that name them. Those left by a process that dies in between do no harm.
    await this.receipts.keep([...verdicts.values()].flatMap((verdict) => verdict?.source ?? []));
    const results = await inParallel(claimed, PARALLEL, (payout) => {
      const verdict = verdicts.get(payout);
      if (verdict === undefined)
        return Promise.resolve(this.checkAgain(payout, this.findingIn(observed, payout), now()));
      return this.end(payout, verdict, confirmed, now()).catch((error: unknown): Checked => {
        this.logger.warn({ msg: 'payout outcome not written', payout_id: payout.payoutId, err: error });
        const delayMs = this.config.payoutCheckIntervalMs;
        return { found: 'not_written', next: { payout, delayMs, finding: 'not_written' } };
      });
    });
    const checks = claimed.map((each, place) => toCheck(each, results[place]!.found, observed));
    await this.checks.record(checks, now());
    const ended = claimed.filter((_, place) => results[place]!.next === null);
    await this.queue.remove(ended.map(({ payoutId }) => payoutId));
    const next = results.flatMap(({ next: each }) =>
      each === null ? [] : [{ ...each, isLarge: observed.receipts.get(each.payout.hash)?.partial }],
    );
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
      return await this.chain.read(requestedTransactions(claimed), { separately });
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      const finding = error instanceof NodeLimited ? 'rate_limited' : 'no_response';
      const checks = claimed.map((each) => toCheck(each, finding, null));
      await this.checks.record(checks, now());
      throw error;
    }
  }

  /** None when too few nodes can be relied on: the others of the round do not wait for that. */
  private async confirm(
    ending: readonly PendingPayout[],
    separately: boolean,
  ): Promise<readonly ChainObservation[]> {
    try {
      return await this.chain.confirm(requestedTransactions(ending), { separately });
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      this.logger.warn({ msg: 'payouts not confirmed', count: ending.length, reason: error.message });
      return [];
    }
  }

  /** Returns null when the node gave no usable response. */
  private findingIn(observed: ChainObservation, each: PendingPayout): Finding | null {
    const { wallet, amountMinor } = each;
    if (!isHash(each.hash)) return { kind: 'not_a_hash' };
    if (wallet === null) return { kind: 'no_wallet' };
    const receipt = observed.receipts.get(each.hash);
    if (receipt === undefined || wallet === undefined) return null;
    const expected = { token: this.chainSettings.usdcAddress ?? '', wallet, amountMinor };
    return toFinding(receipt, expected, observed.final.number, each.usedLogs);
  }

  /**
   * A finding that an outcome may rest on. Before the window has ended for the node, it can say that a transfer is there, and
   * not that it is missing.
   */
  private endingIn(observed: ChainObservation, each: PendingPayout, now: Date): Finding | null {
    const finding = this.findingIn(observed, each);
    return finding?.kind === 'settled' || this.isOver(each, observed, now) ? finding : null;
  }

  /**
   * Checks that the window has ended by the database's clock and, where blocks have times, by that of the newest final
   * block.
   */
  private isOver(each: PendingPayout, { final }: ChainObservation, now: Date): boolean {
    const endMs = this.findEnd(each);
    if (now.getTime() < endMs) return false;
    return this.rules.maxHeadAgeSeconds === 0 || final.timestamp * 1000 >= endMs;
  }

  private findEnd({ expiresAt }: PendingPayout): number {
    return expiresAt.getTime() + this.rules.expiryMarginSeconds * 1000;
  }

  private toVerdict(each: PendingPayout, confirmed: readonly ChainObservation[], now: Date): Verdict | null {
    // Rows may name any log as used: the claims decide.
    const claimable = { ...each, usedLogs: new Set<number>() };
    const findings = confirmed.map((observed) => this.endingIn(observed, claimable, now));
    const finding = quorumFinding(findings, this.chainSettings.chainQuorum);
    if (finding === null) return null;
    const head = Math.min(...confirmed.map((observed) => observed.final.number));
    if (finding.kind !== 'settled') return { finding, head, transfers: [] };
    const agreeing = confirmed[findings.indexOf(finding)]!;
    const receipt = agreeing.receipts.get(each.hash);
    const transfers = recordedTransfers(finding, receipt, agreeing.head.number);
    return transfers === null ? null : { finding, head, transfers, source: receipt?.source };
  }

  /** Receives a payout, or lets it expire, when the observations agree on it. */
  private async end(
    each: PendingPayout,
    verdict: Verdict | null,
    confirmed: readonly ChainObservation[],
    now: Date,
  ): Promise<Checked> {
    if (verdict === null) {
      payoutChecks.inc({ outcome: 'not_confirmed' });
      return { ...this.checkAgain(each, null, now), found: 'not_confirmed' };
    }
    let { finding } = verdict;
    if (finding.kind === 'settled') {
      const began = performance.now();
      const outcome = await this.outcomes.receive(each, verdict.transfers);
      if (outcome === 'row_changed') return { ...this.checkAgain(each, finding, now), found: outcome };
      if (outcome === 'written')
        verificationDelay.observe(
          secondsSinceFinal(each, verdict.transfers, now) + (performance.now() - began) / 1000,
        );
      if (outcome !== 'used') return { found: finding.kind, next: null };
      finding = { kind: 'already_used' };
    }
    if (!confirmed.every((observed) => this.isOver(each, observed, now)))
      return this.checkAgain(each, finding, now);
    const closing = { finding: closingName(finding), head: verdict.head, at: now };
    const apartMs = Math.max(this.config.payoutCheckIntervalMs, this.rules.expiryMarginSeconds * 1000);
    const rules = { apartMs, requiresNewerHead: this.rules.maxHeadAgeSeconds > 0 };
    const next = { payout: each, delayMs: apartMs, finding: finding.kind, closing };
    if (!isSecondCheck(each.closing, closing, rules)) return { found: finding.kind, next };
    const outcome = await this.outcomes.expire(each, expiryReason(finding));
    if (outcome === 'early') return this.checkAgain(each, finding, now);
    if (outcome === 'row_changed') return { ...this.checkAgain(each, finding, now), found: outcome };
    return { found: finding.kind, next: null };
  }

  private checkAgain(payout: PendingPayout, finding: Finding | null, now: Date): Checked {
    const intervalMs = this.config.payoutCheckIntervalMs;
    payoutChecks.inc({ outcome: finding === null ? 'no_response' : 'responded' });
    if (finding === null) {
      const delayMs = noResponseBackoff(payout.noResponses, intervalMs);
      return { found: 'no_response', next: { payout, delayMs, finding } };
    }
    const { kind } = finding;
    const untilExpiryMs = this.findEnd(payout) - now.getTime();
    const ageMs = now.getTime() - payout.createdAt.getTime();
    const random = Math.random();
    const delayMs = nextCheckDelay({ ageMs, untilExpiryMs, finding: kind, intervalMs, random });
    return { found: kind, next: { payout, delayMs, finding: kind } };
  }

  /** Payouts that no node ever has a usable response for stay pending until an operator acts. */
  private warnOfNoResponse(claimed: readonly PendingPayout[], observed: ChainObservation): void {
    const withoutResponse = claimed.filter(({ wallet, hash }) => wallet && !observed.receipts.has(hash));
    if (withoutResponse.length === 0) return;
    this.logger.warn({
      msg: 'payouts not checked: no usable response of the node',
      count: withoutResponse.length,
      payout_id: withoutResponse[0]!.payoutId,
      reasons: observed.refusals,
    });
  }
}

/** The record of a check. It names no node where none was needed or none responded: `observed` is null then. */
function toCheck(
  { payoutId, checks, hash }: PendingPayout,
  finding: CheckFinding,
  observed: ChainObservation | null,
): CheckFacts {
  const check = { payoutId, number: checks + 1, finding };
  if (observed === null || finding === 'no_wallet' || finding === 'not_a_hash')
    return { ...check, node: null, head: null, confirmations: null };
  const { node, head, receipts } = observed;
  const receipt = receipts.get(hash);
  const confirmations = receipt ? countConfirmations(receipt.blockNumber, head.number) : null;
  return { ...check, node, head: head.number, confirmations };
}

/** Returns the most seconds since the transfer became final, counted from the last times at which it was not. */
function secondsSinceFinal(
  { createdAt, notFinalAt }: PendingPayout,
  [transfer]: readonly TransferSighting[],
  now: Date,
): number {
  const blockMs = transfer === undefined ? 0 : Date.parse(transfer.block_time);
  const sinceMs = Math.max(createdAt.getTime(), notFinalAt?.getTime() ?? 0, blockMs);
  return Math.max(0, now.getTime() - sinceMs) / 1000;
}
