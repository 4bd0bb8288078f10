import type { SeenTransfer } from './payout.js';
import type { CheckFinding, Finding, ReceiptSource, TransactionReceipt } from './verification.js';

/** One check of a pending payout on the chain. */
export interface PayoutCheck {
  readonly payoutId: string;
  /** The first check is number 1. */
  readonly number: number;
  readonly finding: CheckFinding;
  /** Host of the node that was read; null where none was needed or none responded. */
  readonly node: string | null;
  /** The newest block of that node. */
  readonly head: number | null;
  /** Of the block of the transaction; null while it is in none. */
  readonly confirmations: number | null;
}

/** What an observation of the chain has of the transactions of payouts. */
interface ObservedReceipts {
  readonly node: string;
  readonly head: { readonly number: number };
  readonly receipts: ReadonlyMap<string, TransactionReceipt | null>;
}

/** What is checked of a pending payout. */
interface CheckedPayout {
  readonly payoutId: string;
  readonly hash: string;
  readonly wallet: string | null;
  readonly amountMinor: bigint;
  /** How many checks there were before. */
  readonly checks: number;
}

/** A payout that the nodes agree on: its transfers, any of which would confirm it, and the receipt that they are in. */
interface Settled {
  readonly transfers: readonly SeenTransfer[];
  readonly source: ReceiptSource;
}

/** What observations of the chain say of a payout, and how high the newest block is that is final for all of them. */
export interface Verdict {
  readonly finding: Exclude<Finding, { kind: 'settled' }> | ({ readonly kind: 'settled' } & Settled);
  readonly head: number;
}

const NOTHING_READ = { node: null, head: null, confirmations: null };

/** A check for which no node had a usable response. */
export function noResponseOf(
  { payoutId, checks }: Pick<CheckedPayout, 'payoutId' | 'checks'>,
  finding: 'no_response' | 'rate_limited' = 'no_response',
): PayoutCheck {
  return { payoutId, number: checks + 1, finding, ...NOTHING_READ };
}

/** What `observed` says of the payout, as it is recorded. */
export function checkOf(
  { payoutId, checks, hash }: Pick<CheckedPayout, 'payoutId' | 'checks' | 'hash'>,
  finding: CheckFinding,
  { node, head, receipts }: ObservedReceipts,
): PayoutCheck {
  const check = { payoutId, number: checks + 1, finding };
  if (finding === 'no_wallet' || finding === 'not_a_hash') return { ...check, ...NOTHING_READ };
  const receipt = receipts.get(hash) ?? null;
  const confirmations = receipt === null ? null : confirmationsOf(receipt.blockNumber, head.number);
  return { ...check, node, head: head.number, confirmations };
}

/** The receipts that outcomes rest on. */
export function sourcesIn(verdicts: Iterable<Verdict | null>): readonly ReceiptSource[] {
  return [...verdicts].flatMap((verdict) =>
    verdict?.finding.kind === 'settled' ? [verdict.finding.source] : [],
  );
}

/**
 * What the events of a payout record of `observed`, one of those that agree on `finding`. Place, block and sender were
 * voted on; confirmations and receipt are those of this node. Null when it lacks what has to be recorded.
 */
export function settledBy(
  observed: ObservedReceipts,
  finding: Extract<Finding, { kind: 'settled' }>,
  { hash, wallet, amountMinor }: Pick<CheckedPayout, 'hash' | 'wallet' | 'amountMinor'>,
  token: string,
): Settled | null {
  const source = observed.receipts.get(hash)?.source;
  const { blockNumber, blockHash, blockTime, logs } = finding;
  if (source === undefined || blockTime === undefined || wallet === null) return null;
  const transfers = logs.map(({ logIndex, from }) => ({
    log_index: logIndex,
    block_number: blockNumber,
    block_hash: blockHash,
    block_time: new Date(blockTime * 1000).toISOString(),
    confirmations: confirmationsOf(blockNumber, observed.head.number),
    token: token.toLowerCase(),
    from,
    to: wallet.toLowerCase(),
    value: amountMinor.toString(),
    receipt_sha256: source.sha256,
  }));
  return { transfers, source };
}

/** Blocks from the transfer's own to the newest one, both counted: 1 as soon as the transfer is in a block. */
export function confirmationsOf(blockNumber: number, head: number): number {
  return Math.max(0, head - blockNumber + 1);
}
