import { Inject, Injectable, Logger } from '@nestjs/common';
import { inParallel } from '../../../kernel/in-parallel.js';
import { chainRules, type ChainRules } from '../../../platform/chain/chain-rules.js';
import { finalAge, payoutChecks, verificationDelay } from '../payouts.metrics.js';
import { nextCheckDelay, noResponseBackoff } from './check-schedule.js';
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
} from './verification.js';
import { PayoutOutcomes } from './payout-outcomes.service.js';
import { isHash, type TransferSighting } from '../payouts/payout-events.js';
import { PayeeCache } from '../payouts/payouts.commands.js';
import {
  CHAIN_READER,
  ChainUnavailable,
  NodeLimited,
  requestedTransactions,
  type ChainObservation,
  type ChainReader,
} from './chain.ports.js';
import { PayoutChecks, type NewCheck } from './payout-checks.store.js';
import { Receipts } from './receipts.store.js';
import {
  hasNoResponse,
  VerificationQueue,
  type Claimed,
  type NextCheck,
  type PendingPayout,
} from './verification-queue.store.js';
import { payoutsConfig, type PayoutsConfig } from '../payouts.config.js';
import { chainConfig, type ChainConfig } from '../../../platform/config/config.js';

/** The limit of outcomes that are written concurrently, so that they share group commits. */
const PARALLEL = 50;
const USERS_AT_A_TIME = 16;

interface Verdict {
  readonly finding: Finding;
  /** The transfers that confirm the payout; empty unless the finding is `settled`. */
  readonly transfers: readonly TransferSighting[];
  readonly source?: ReceiptSource | undefined;
}

/** A check of a payout. `delayMs` is null once the payout has its outcome. */
type Checked = Omit<NextCheck, 'delayMs'> & { readonly delayMs: number | null };

/**
 * Checks claimed payouts by one observation of the chain. CHAIN_QUORUM nodes must confirm each payout that
 * would end. Then the round writes an outcome or schedules the next check.
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
   * Returns the number of payouts that got an outcome. Throws ChainUnavailable if no node can be relied on.
   * @param separately sends one request per payout instead of batches
   */
  async run({ payouts, now: claimedAt }: Claimed, separately: boolean): Promise<number> {
    const began = performance.now();
    const now = (): Date => new Date(claimedAt.getTime() + performance.now() - began);
    // Sorted by merchant, a batch has few merchants and delays few others.
    const claimed = [...payouts].sort((a, b) => (a.merchantId < b.merchantId ? -1 : 1));
    // Wallets are read from events, which a writer of the database cannot change.
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
    // The receipts precede the events that name them. After a crash in between they are unused.
    await this.receipts.keep([...verdicts.values()].flatMap((verdict) => verdict?.source ?? []));
    const results = await inParallel(claimed, PARALLEL, (payout) => {
      const verdict = verdicts.get(payout);
      if (verdict === undefined)
        return Promise.resolve(
          this.checkAgain(payout, this.findingIn(observed, payout)?.kind ?? 'no_response', now()),
        );
      return this.end(payout, verdict, confirmed, now()).catch((error: unknown): Checked => {
        this.logger.warn({ msg: 'payout outcome not written', payout_id: payout.payoutId, err: error });
        return { payout, delayMs: this.config.payoutCheckIntervalMs, finding: 'not_written' };
      });
    });
    const checks = results.map(({ payout, finding }) => toCheck(payout, finding, observed));
    await this.checks.record(checks, now());
    const ended = results.flatMap(({ payout, delayMs }) => (delayMs === null ? [payout.payoutId] : []));
    await this.queue.remove(ended);
    const next = results.flatMap(({ delayMs, ...check }) => {
      const isLarge = observed.receipts.get(check.payout.hash)?.partial;
      return delayMs === null ? [] : [{ ...check, delayMs, isLarge }];
    });
    await this.queue.reschedule(next, now(), claimedAt);
    return ended.length;
  }

  /** Reads the chain. A failed read is recorded as a check, which the next check replaces. */
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

  /** Reads the chain for outcomes. Too few reliable nodes result in [], so that the round continues. */
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

  /** Returns the finding about a payout, or null without a usable response. */
  private findingIn(observed: ChainObservation, each: PendingPayout): Finding | null {
    const { wallet, amountMinor } = each;
    if (!isHash(each.hash)) return { kind: 'not_a_hash' };
    if (wallet === null) return { kind: 'no_wallet' };
    const receipt = observed.receipts.get(each.hash);
    if (receipt === undefined || wallet === undefined) return null;
    const expected = { token: this.chainSettings.usdcAddress ?? '', wallet, amountMinor };
    return toFinding(receipt, expected, observed.final.number, each.usedLogs);
  }

  /** Returns a finding that may end the payout, or null. Only `settled` may end it before its window ends. */
  private endingIn(observed: ChainObservation, each: PendingPayout, now: Date): Finding | null {
    const finding = this.findingIn(observed, each);
    return finding?.kind === 'settled' || this.isOver(each, observed, now) ? finding : null;
  }

  /** Compares the end of the window with the database's clock and, if blocks have times, the final block. */
  private isOver(each: PendingPayout, { final }: ChainObservation, now: Date): boolean {
    const endMs = this.findEnd(each);
    if (now.getTime() < endMs) return false;
    return this.rules.maxHeadAgeSeconds === 0 || final.timestamp * 1000 >= endMs;
  }

  private findEnd({ expiresAt }: PendingPayout): number {
    return expiresAt.getTime() + this.rules.expiryMarginSeconds * 1000;
  }

  private toVerdict(each: PendingPayout, confirmed: readonly ChainObservation[], now: Date): Verdict | null {
    // A forged row may name any log as used, so only claims decide.
    const claimable = { ...each, usedLogs: new Set<number>() };
    const findings = confirmed.map((observed) => this.endingIn(observed, claimable, now));
    const finding = quorumFinding(findings, this.chainSettings.chainQuorum);
    if (finding === null) return null;
    if (finding.kind !== 'settled') return { finding, transfers: [] };
    const agreeing = confirmed[findings.indexOf(finding)]!;
    const receipt = agreeing.receipts.get(each.hash);
    const transfers = recordedTransfers(finding, receipt, agreeing.head.number);
    return transfers === null ? null : { finding, transfers, source: receipt?.source };
  }

  private async end(
    each: PendingPayout,
    verdict: Verdict | null,
    confirmed: readonly ChainObservation[],
    now: Date,
  ): Promise<Checked> {
    if (verdict === null) return this.checkAgain(each, 'not_confirmed', now);
    let { finding } = verdict;
    if (finding.kind === 'settled') {
      const began = performance.now();
      const outcome = await this.outcomes.receive(each, verdict.transfers);
      if (outcome === 'row_changed') return this.checkAgain(each, outcome, now);
      if (outcome === 'written')
        verificationDelay.observe(
          secondsSinceFinal(each, verdict.transfers, now) + (performance.now() - began) / 1000,
        );
      if (outcome !== 'used') return { payout: each, finding: finding.kind, delayMs: null };
      finding = { kind: 'already_used' };
    }
    const { kind } = finding;
    if (!confirmed.every((observed) => this.isOver(each, observed, now)))
      return this.checkAgain(each, kind, now);
    // The newest block that is final for all nodes.
    const head = Math.min(...confirmed.map(({ final }) => final.number));
    const closing = { finding: closingName(finding), head, at: now.toISOString() };
    const apartMs = Math.max(this.config.payoutCheckIntervalMs, this.rules.expiryMarginSeconds * 1000);
    const rules = { apartMs, requiresNewerHead: this.rules.maxHeadAgeSeconds > 0 };
    if (!isSecondCheck(each.item.state.closing, closing, rules))
      return { payout: each, delayMs: apartMs, finding: kind, closing };
    const outcome = await this.outcomes.expire(each, expiryReason(finding));
    if (outcome === 'early') return this.checkAgain(each, kind, now);
    if (outcome === 'row_changed') return this.checkAgain(each, outcome, now);
    return { payout: each, finding: kind, delayMs: null };
  }

  private checkAgain(payout: PendingPayout, finding: CheckFinding, now: Date): Checked {
    const intervalMs = this.config.payoutCheckIntervalMs;
    payoutChecks.inc({ outcome: hasNoResponse(finding) ? finding : 'responded' });
    if (hasNoResponse(finding))
      return { payout, finding, delayMs: noResponseBackoff(payout.item.failures, intervalMs) };
    const untilExpiryMs = this.findEnd(payout) - now.getTime();
    const ageMs = now.getTime() - payout.createdAt.getTime();
    const random = Math.random();
    const delayMs = nextCheckDelay({ ageMs, untilExpiryMs, finding, intervalMs, random });
    return { payout, finding, delayMs };
  }

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

/** Builds the record of a check. `observed` is null when no node responded. */
function toCheck(
  { payoutId, item, hash }: PendingPayout,
  finding: CheckFinding,
  observed: ChainObservation | null,
): NewCheck {
  const check = { payoutId, number: (item.state.checks ?? 0) + 1, finding };
  if (observed === null || finding === 'no_wallet' || finding === 'not_a_hash')
    return { ...check, node: null, head: null, confirmations: null };
  const { node, head, receipts } = observed;
  const receipt = receipts.get(hash);
  const confirmations = receipt ? countConfirmations(receipt.blockNumber, head.number) : null;
  return { ...check, node, head: head.number, confirmations };
}

/** Returns an upper bound of the seconds since the transfer became final. */
function secondsSinceFinal(
  { createdAt, item }: PendingPayout,
  [transfer]: readonly TransferSighting[],
  now: Date,
): number {
  const blockMs = transfer === undefined ? 0 : Date.parse(transfer.block_time);
  const { notFinalAt } = item.state;
  const notFinalMs = notFinalAt ? Date.parse(notFinalAt) : 0;
  const sinceMs = Math.max(createdAt.getTime(), notFinalMs, blockMs);
  return Math.max(0, now.getTime() - sinceMs) / 1000;
}
