import { Inject, Injectable, Logger } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { chainRules, type ChainRules } from '../../../platform/chain/chain-rules.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { finalAge, payoutLooks } from '../metrics.js';
import { agreement, closingName, isSecondLook } from '../domain/agreement.js';
import { nextCheckDelay, silenceBackoff } from '../domain/check-schedule.js';
import { expiryReason, judge, type Finding, type ReceiptSource } from '../domain/verification.js';
import { ExpirePayout } from './expire-payout.js';
import { ListedPayouts } from './listed-payouts.js';
import { PayeeCache } from './payee-cache.js';
import {
  CHAIN_READER,
  ChainUnavailable,
  type ChainLook,
  type ChainReader,
  type WantedTransaction,
} from './ports.js';
import { ReceivePayout } from './receive-payout.js';
import { settledBy, type Settled } from './settled-transfers.js';
import { Receipts } from '../store/receipts.js';
import { Verifications, type NextCheck, type Taken, type Verification } from '../store/verifications.js';

/** Outcomes written at the same time: they travel together in group commits. */
const PARALLEL = 50;

/** What looks at the chain say of a payout, and how high the newest block is that is final for all of them. */
interface Verdict {
  readonly finding: Exclude<Finding, { kind: 'settled' }> | Settlement;
  readonly head: number;
}
type Settlement = { readonly kind: 'settled' } & Settled;

/**
 * One round of looking payouts up: one look for all of them; another, which has to agree with itself and with as many
 * nodes as CHAIN_QUORUM asks for, for those that it would end; then an outcome or another date for each.
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
    private readonly table: Verifications,
    private readonly receipts: Receipts,
    private readonly commandBus: CommandBus,
    private readonly payees: PayeeCache,
    private readonly listed: ListedPayouts,
  ) {
    this.rules = chainRules(config);
  }

  /** `alone`: each payout is asked for by itself. Throws ChainUnavailable when no node can be relied on. */
  async play({ work, now: takenAt }: Taken, alone: boolean): Promise<void> {
    const began = performance.now();
    const now = (): Date => new Date(takenAt.getTime() + performance.now() - began);
    // A batch holds the payouts of few merchants: what one of them does to it concerns few others.
    const taken = [...work].sort((a, b) => (a.turn < b.turn ? -1 : 1));
    const look = await this.chain.look(wantedOf(taken), { alone });
    finalAge.set(takenAt.getTime() / 1000 - look.final.timestamp);
    this.warnOfSilence(taken, look);
    const first = new Map(taken.map((each) => [each.payoutId, this.findingIn(look, each)]));
    const mayEnd = taken.filter((each) => {
      const finding = first.get(each.payoutId)!;
      return finding !== null && (finding.kind === 'settled' || this.isOver(each, look, now()));
    });
    const areSound = await Promise.all(mayEnd.map((each) => this.listed.isSound(each, this.config.chainId)));
    const ending = mayEnd.filter((_, place) => areSound[place]);
    const looks = ending.length === 0 ? [] : await this.confirm(ending, alone);
    const verdicts = new Map(ending.map((each) => [each, this.verdictOf(each, looks, now())]));
    // Before the events that name them: what is left over when the process dies in between does no harm.
    await this.receipts.keep(sourcesIn(verdicts.values()));
    const next: NextCheck[] = [];
    const ended: string[] = [];
    for (let from = 0; from < taken.length; from += PARALLEL) {
      const part = taken.slice(from, from + PARALLEL);
      const results = await Promise.allSettled(
        part.map((each) =>
          verdicts.has(each)
            ? this.bring(each, verdicts.get(each)!, looks, now())
            : this.nextCheck(each, first.get(each.payoutId)!, now()),
        ),
      );
      results.forEach((result, place) => {
        const { payoutId } = part[place]!;
        if (result.status === 'rejected') {
          this.logger.warn({ msg: 'outcome not written', payoutId, error: result.reason as unknown });
          next.push({ payoutId, delayMs: this.config.payoutCheckIntervalMs, finding: 'not_written' });
        } else if (result.value === 'ended') ended.push(payoutId);
        else next.push({ ...result.value, isLarge: look.receipts.get(part[place]!.hash)?.partial });
      });
    }
    await this.table.remove(ended);
    await this.table.putBack(next);
  }

  /** None when too few nodes can be relied on: the others of the round shall not wait for that. */
  private async confirm(ending: readonly Verification[], alone: boolean): Promise<readonly ChainLook[]> {
    try {
      return await this.chain.confirm(wantedOf(ending), { alone });
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      this.logger.warn({ msg: 'no outcome can be confirmed', count: ending.length, reason: error.message });
      return [];
    }
  }

  /** What one look says of a payout; null when the node gave no usable response. */
  private findingIn(look: ChainLook, each: Verification): Finding | null {
    if (each.wallet === null) return { kind: 'no_wallet' };
    const receipt = look.receipts.get(each.hash);
    if (receipt === undefined) return null;
    const expected = {
      token: this.config.usdcAddress ?? '',
      wallet: each.wallet,
      amountMinor: each.amountMinor,
    };
    return judge(receipt, expected, look.final.number, each.usedLogs);
  }

  /** Whether the window has ended by the database's clock and, where blocks tell the time, by that of the newest final block. */
  private isOver(each: Verification, { final }: ChainLook, now: Date): boolean {
    const endMs = each.expiresAt.getTime() + this.rules.expiryMarginSeconds * 1000;
    if (now.getTime() < endMs) return false;
    return this.rules.maxHeadAgeSeconds === 0 || final.timestamp * 1000 >= endMs;
  }

  /** Receives a payout, or lets it expire, when the looks agree on it. */
  private async bring(
    each: Verification,
    verdict: Verdict | null,
    looks: readonly ChainLook[],
    now: Date,
  ): Promise<'ended' | NextCheck> {
    if (verdict === null) {
      payoutLooks.inc({ outcome: 'doubtful' });
      return this.nextCheck(each, null, now);
    }
    let { finding } = verdict;
    if (finding.kind === 'settled') {
      const { payoutId, hash } = each;
      const outcome = await this.commandBus.execute(
        new ReceivePayout(payoutId, this.config.chainId, hash, finding.transfers),
      );
      if (outcome !== 'used') return 'ended';
      finding = { kind: 'already_used' };
    }
    if (!looks.every((look) => this.isOver(each, look, now))) return this.nextCheck(each, finding, now);
    const closing = { finding: closingName(finding), head: verdict.head };
    const apartMs = Math.max(this.config.payoutCheckIntervalMs, this.rules.expiryMarginSeconds * 1000);
    const rules = { apartMs, mindsBlocks: this.rules.maxHeadAgeSeconds > 0 };
    if (!isSecondLook(each.closing, { ...closing, at: now }, rules)) {
      return { payoutId: each.payoutId, delayMs: apartMs, finding: finding.kind, closing };
    }
    // The list of wallets follows the events, and may be behind them.
    if (finding.kind === 'no_wallet' && (await this.hasWallet(each.userId)))
      return this.nextCheck(each, finding, now);
    const expiry = await this.commandBus.execute(new ExpirePayout(each.payoutId, expiryReason(finding)));
    return expiry === 'early' ? this.nextCheck(each, finding, now) : 'ended';
  }

  private async hasWallet(userId: string): Promise<boolean> {
    this.payees.forget(userId);
    const { state } = await this.payees.get(userId);
    return state.accountState !== 'unknown' && state.issuerWalletAddress !== null;
  }

  private verdictOf(each: Verification, looks: readonly ChainLook[], now: Date): Verdict | null {
    // Before the window has ended for a node it can say that a transfer is there, and not that it is missing.
    const findings = looks.map((look) => {
      const finding = this.findingIn(look, each);
      return finding?.kind === 'settled' || this.isOver(each, look, now) ? finding : null;
    });
    const finding = agreement(findings, this.config.chainQuorum);
    if (finding === null) return null;
    const head = Math.min(...looks.map((look) => look.final.number));
    if (finding.kind !== 'settled') return { finding, head };
    const { hash, wallet, amountMinor } = each;
    const paid = { hash, wallet: wallet ?? '', amountMinor, token: this.config.usdcAddress ?? '' };
    const settled = settledBy(looks[findings.indexOf(finding)]!, finding, paid);
    return settled === null ? null : { finding: { kind: 'settled', ...settled }, head };
  }

  /** A payout without a usable response (`finding` null) backs off by itself. */
  private async nextCheck(each: Verification, finding: Finding | null, now: Date): Promise<NextCheck> {
    const { payoutId, unanswered } = each;
    const intervalMs = this.config.payoutCheckIntervalMs;
    payoutLooks.inc({ outcome: finding === null ? 'unanswered' : 'answered' });
    if (finding === null) return { payoutId, delayMs: silenceBackoff(unanswered, intervalMs), finding: null };
    const endMs = each.expiresAt.getTime() + this.rules.expiryMarginSeconds * 1000;
    const untilExpiryMs = endMs - now.getTime();
    const delayMs =
      finding.kind === 'no_wallet' && untilExpiryMs > 0
        ? untilExpiryMs
        : nextCheckDelay({
            ageMs: now.getTime() - each.createdAt.getTime(),
            untilExpiryMs,
            finding: finding.kind,
            intervalMs,
            random: Math.random(),
          });
    return { payoutId, delayMs, finding: finding.kind };
  }

  /** Payouts that no node ever has a usable response for stay pending: somebody has to look into it. */
  private warnOfSilence(taken: readonly Verification[], look: ChainLook): void {
    const silent = taken.filter((each) => each.wallet !== null && !look.receipts.has(each.hash));
    if (silent.length === 0) return;
    const payoutId = silent[0]!.payoutId;
    this.logger.warn({
      msg: 'the node gave no usable response for payouts',
      count: silent.length,
      payoutId,
      reasons: look.refusals,
    });
  }
}

function sourcesIn(verdicts: Iterable<Verdict | null>): readonly ReceiptSource[] {
  return [...verdicts].flatMap((verdict) =>
    verdict?.finding.kind === 'settled' ? [verdict.finding.source] : [],
  );
}

function wantedOf(taken: readonly Verification[]): readonly WantedTransaction[] {
  const wanted = new Map<string, { hash: string; turn: string; wallets: string[] }>();
  for (const { hash, turn, wallet } of taken) {
    if (wallet === null) continue;
    const known = wanted.get(hash);
    if (known === undefined) wanted.set(hash, { hash, turn, wallets: [wallet] });
    else if (!known.wallets.includes(wallet)) known.wallets.push(wallet);
  }
  return [...wanted.values()];
}
