import type { TransferSighting } from './payout-events.js';

/** A Transfer log of any ERC-20 token, with addresses and hashes in lower case. */
export interface TransferLog {
  readonly token: string;
  readonly from: string;
  readonly to: string;
  readonly amountMinor: bigint;
  /** Place among the logs of the transaction, from 0: the same in any block that a reorganisation puts it in. */
  readonly logIndex: number;
}

/** The chain's receipt of a transaction that is in a block. */
export interface TransactionReceipt {
  readonly succeeded: boolean;
  readonly blockNumber: number;
  readonly blockHash: string;
  /** Only the transfers of USDC to the requested wallets are known, and not their places. */
  readonly partial?: true;
  readonly transfers: readonly TransferLog[];
  /** The time of its block in seconds since 1970. Present in observations on which outcomes may rest. */
  readonly blockTime?: number;
  /** The source of the receipt. Present in observations on which outcomes may rest. */
  readonly source?: ReceiptSource;
}

export interface ReceiptSource {
  readonly sha256: string;
  /** The JSON text; null when it has too many bytes to be kept. */
  readonly text: string | null;
}

/** A transfer as events record it, without what only one node says: the confirmations and the receipt. */
export type Sighting = Omit<TransferSighting, 'confirmations' | 'receipt_sha256'>;

/** A log in its receipt, whose block has a time. Verification and recheck compare the same members. */
export function toSighting(
  { blockNumber, blockHash, blockTime = 0 }: TransactionReceipt,
  { logIndex, token, from, to, amountMinor }: TransferLog,
): Sighting {
  return {
    log_index: logIndex,
    block_number: blockNumber,
    block_hash: blockHash,
    block_time: new Date(blockTime * 1000).toISOString(),
    token,
    from,
    to,
    value: amountMinor.toString(),
  };
}

interface ExpectedTransfer {
  readonly token: string;
  readonly wallet: string;
  readonly amountMinor: bigint;
}

/** The findings that a payout expires with, and what the merchant reads. */
const REASONS = {
  not_found: 'Transaction not found on the chain within the verification window',
  not_a_hash: 'Not a transaction hash: that has 64 hexadecimal digits',
  no_wallet: 'The user had no wallet to receive the transfer within the verification window',
  reverted: 'The transaction was reverted',
  wrong_token: 'Wrong token: the transaction transfers no USDC',
  wrong_recipient: "Wrong recipient: the transaction transfers no USDC to the user's wallet",
  wrong_amount: "Wrong amount: the USDC transferred to the user's wallet is not the amount reported",
  already_used: 'The transfer was already used by another payout',
};

/** The finding of one check of a payout. Only `settled` ends the wait before the window does. */
export type Finding =
  /** Any of the transfers would confirm the payout. */
  | { readonly kind: 'settled'; readonly transfers: readonly Sighting[] }
  /** The block lies this many blocks after the newest final one. */
  | { readonly kind: 'confirming'; readonly blocks: number }
  | { readonly kind: keyof typeof REASONS };

/**
 * What a check of a payout found; apart from the kinds of a {@link Finding}:
 * - `no_response`: the node had no usable response about the transaction
 * - `rate_limited`: the nodes limit the rate of requests, and none has capacity
 * - `not_confirmed`: an outcome was near, and too few nodes agreed on it
 * - `not_written`: the outcome could not be written
 * - `row_changed`: what is stored of the payout is not what was reported
 */
export type CheckFinding =
  Finding['kind'] | 'no_response' | 'rate_limited' | 'not_confirmed' | 'not_written' | 'row_changed';

/**
 * Compares a receipt with what the merchant reported (contract.md 10.1).
 * `used` are the logs of this transaction that confirmed other payouts; `final` is the height of the newest final block.
 */
export function toFinding(
  receipt: TransactionReceipt | null,
  expected: ExpectedTransfer,
  final: number,
  used: ReadonlySet<number>,
): Finding {
  if (receipt === null) return { kind: 'not_found' };
  if (!receipt.succeeded) return { kind: 'reverted' };
  const ofToken = receipt.transfers.filter((log) => log.token === expected.token.toLowerCase());
  if (ofToken.length === 0) return { kind: receipt.partial ? 'wrong_recipient' : 'wrong_token' };
  const toWallet = ofToken.filter((log) => log.to === expected.wallet.toLowerCase());
  if (toWallet.length === 0) return { kind: 'wrong_recipient' };
  const exact = toWallet.filter((log) => log.amountMinor === expected.amountMinor);
  if (exact.length === 0) return { kind: 'wrong_amount' };
  const free = receipt.partial ? exact : exact.filter((log) => !used.has(log.logIndex));
  if (free.length === 0) return { kind: 'already_used' };
  const { blockNumber } = receipt;
  if (blockNumber > final) return { kind: 'confirming', blocks: blockNumber - final };
  return { kind: 'settled', transfers: free.map((log) => toSighting(receipt, log)) };
}

/**
 * The transfers of a finding that nodes agree on, as events record them: with the confirmations and the receipt that one of
 * these nodes has. Null when it lacks what has to be recorded.
 */
export function recordedTransfers(
  { transfers }: Extract<Finding, { kind: 'settled' }>,
  receipt: TransactionReceipt | null | undefined,
  head: number,
): readonly TransferSighting[] | null {
  if (!receipt?.source || receipt.blockTime === undefined) return null;
  const confirmations = countConfirmations(receipt.blockNumber, head);
  const { sha256 } = receipt.source;
  return transfers.map((each) => ({ ...each, confirmations, receipt_sha256: sha256 }));
}

/** Blocks from the transfer's own to the newest one, both counted: 1 as soon as the transfer is in a block. */
export function countConfirmations(blockNumber: number, head: number): number {
  return Math.max(0, head - blockNumber + 1);
}

/** The sentence a merchant reads in `reason` when the window ends on this finding. */
export function expiryReason(finding: Exclude<Finding, { kind: 'settled' }>): string {
  if (finding.kind !== 'confirming') return REASONS[finding.kind];
  const { blocks } = finding;
  return `Not confirmed in time: the block of the transfer was not final, by ${blocks} ${blocks === 1 ? 'block' : 'blocks'}`;
}

/**
 * The finding of at least `quorum` nodes; null when there is no such finding, or when there are two. A node without a
 * finding has no vote.
 */
export function quorumFinding(findings: readonly (Finding | null)[], quorum: number): Finding | null {
  const given = findings.filter((finding) => finding !== null);
  const toName = (finding: Finding): string =>
    finding.kind === 'settled' ? JSON.stringify(finding) : finding.kind;
  return agreeing(given, toName, quorum)[0] ?? null;
}

/** The votes of one name, at least `quorum` of them; none when no name has as many, or when two have. */
export function agreeing<Vote>(
  votes: readonly Vote[],
  toName: (vote: Vote) => string,
  quorum: number,
): readonly Vote[] {
  const byName = new Map<string, Vote[]>();
  for (const vote of votes) byName.set(toName(vote), [...(byName.get(toName(vote)) ?? []), vote]);
  const enough = [...byName.values()].filter((alike) => alike.length >= quorum);
  return enough.length === 1 ? enough[0]! : [];
}

/** The first check after the window, until another one agrees with it. */
export interface Closing {
  readonly finding: string;
  readonly head: number;
  readonly at: Date;
}

/** The name under which a finding is compared with one of another time: a transfer that the final head comes nearer to is not lost. */
export function closingName(finding: Finding): string {
  return finding.kind === 'confirming' ? `confirming ${finding.blocks}` : finding.kind;
}

/**
 * Checks for the second of two equal findings after the window: later and, where the rules require it, at a later
 * block.
 */
export function isSecondCheck(
  first: Closing | null,
  second: Closing,
  rules: { readonly apartMs: number; readonly requiresNewerHead: boolean },
): boolean {
  if (first === null || first.finding !== second.finding) return false;
  if (second.at.getTime() - first.at.getTime() < rules.apartMs) return false;
  return !rules.requiresNewerHead || second.head > first.head;
}
