import type { TransferSighting } from '../payouts/payout-events.js';

/** A Transfer log of any ERC-20 token, with addresses in lower case. */
export interface TransferLog {
  readonly token: string;
  readonly from: string;
  readonly to: string;
  readonly amountMinor: bigint;
  /** The place among the logs of the transaction, from 0. A reorganisation does not change the place. */
  readonly logIndex: number;
}

export interface TransactionReceipt {
  readonly succeeded: boolean;
  readonly blockNumber: number;
  readonly blockHash: string;
  /** True for a receipt with only the USDC transfers to the requested wallets, without their places. */
  readonly partial?: true;
  readonly transfers: readonly TransferLog[];
  /** The time of the block in seconds since 1970. Only confirmed observations have this time. */
  readonly blockTime?: number;
  /** The receipt as the node sent it. Only confirmed observations have this source. */
  readonly source?: ReceiptSource;
}

export interface ReceiptSource {
  readonly sha256: string;
  /** The JSON text; null when it is too large to be stored. */
  readonly text: string | null;
}

/** A transfer without its confirmations and receipt, which differ by node. */
export type Sighting = Omit<TransferSighting, 'confirmations' | 'receipt_sha256'>;

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

/** The reasons of expired payouts, for merchants, by finding. */
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

export type Finding =
  /** Each of the transfers would confirm the payout. */
  | { readonly kind: 'settled'; readonly transfers: readonly Sighting[] }
  /** The block of the transfer is `blocks` after the newest final block. */
  | { readonly kind: 'confirming'; readonly blocks: number }
  | { readonly kind: keyof typeof REASONS };

/**
 * The results of a check, in the order of the API: the kinds of a {@link Finding}, and
 * - `no_response`: no node had a usable response about the transaction
 * - `rate_limited`: the nodes refused the requests as too many
 * - `not_confirmed`: too few nodes agreed on the outcome
 * - `not_written`: the event store refused the outcome
 * - `row_changed`: the stored payout differs from the report
 */
export const CHECK_FINDINGS = [
  'settled',
  'confirming',
  ...(Object.keys(REASONS) as (keyof typeof REASONS)[]),
  'no_response',
  'rate_limited',
  'not_confirmed',
  'not_written',
  'row_changed',
] as const;
export type CheckFinding = (typeof CHECK_FINDINGS)[number];

/**
 * Compares a receipt with the report (contract.md 10.1).
 * @param final the height of the newest final block
 * @param used the logs of this transaction that confirmed other payouts
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

/** Adds confirmations and receipt hash of one node to transfers; null if source or block time is missing. */
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

export function countConfirmations(blockNumber: number, head: number): number {
  return Math.max(0, head - blockNumber + 1);
}

export function expiryReason(finding: Exclude<Finding, { kind: 'settled' }>): string {
  if (finding.kind !== 'confirming') return REASONS[finding.kind];
  const { blocks } = finding;
  return `Not confirmed in time: the block of the transfer was not final, by ${blocks} ${blocks === 1 ? 'block' : 'blocks'}`;
}

/** Returns the only finding with at least `quorum` votes, or null. A null in `findings` is no vote. */
export function quorumFinding(findings: readonly (Finding | null)[], quorum: number): Finding | null {
  const given = findings.filter((finding) => finding !== null);
  const toName = (finding: Finding): string =>
    finding.kind === 'settled' ? JSON.stringify(finding) : finding.kind;
  return agreeing(given, toName, quorum)[0] ?? null;
}

/** Groups votes by name. Returns the only group with at least `quorum` votes, otherwise no votes. */
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

/** A check after the window, which a second check must confirm. `at` is ISO 8601. */
export interface Closing {
  readonly finding: string;
  readonly head: number;
  readonly at: string;
}

/** Returns the text by which two checks compare findings. Progress towards finality changes the text. */
export function closingName(finding: Finding): string {
  return finding.kind === 'confirming' ? `confirming ${finding.blocks}` : finding.kind;
}

/** Checks that a second equal finding is late enough and, if required, at a later block. */
export function isSecondCheck(
  first: Closing | null | undefined,
  second: Closing,
  rules: { readonly apartMs: number; readonly requiresNewerHead: boolean },
): boolean {
  if (first?.finding !== second.finding) return false;
  if (Date.parse(second.at) - Date.parse(first.at) < rules.apartMs) return false;
  return !rules.requiresNewerHead || second.head > first.head;
}
