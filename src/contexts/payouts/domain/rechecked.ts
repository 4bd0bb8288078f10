import { toMinorUnits } from '../../../kernel/money.js';
import type { PayoutReceived } from '../contract.js';
import type { TransactionReceipt } from './verification.js';

/** What one check finds of the transfer of a payout, long after it was received. */
export type Rechecked =
  | { readonly kind: 'unchanged' }
  /** In another block than then: the transfer is the same one (contract.md 10.3). */
  | { readonly kind: 'moved'; readonly why: string }
  | { readonly kind: 'undone'; readonly why: string }
  /** Without a usable response. */
  | { readonly kind: 'unknown'; readonly why: string };

export interface SeenAgain {
  /** Null when the transaction is in no block; undefined without a usable response. */
  readonly receipt: TransactionReceipt | null | undefined;
  readonly final: number;
  /** Of the block that the chain has at the payout's height; undefined when it was not requested, or the node does not have it. */
  readonly hashAtHeight: string | undefined;
}

/** Whether the chain still has the transfer of a payout that was received. */
export function recheckOf(
  data: PayoutReceived['data'],
  { receipt, final, hashAtHeight }: SeenAgain,
): Rechecked {
  if (receipt === undefined) return unknown('the node gave no usable response');
  if (receipt === null) return missing(data, final, hashAtHeight);
  if (receipt.blockNumber > final)
    return unknown(`its block ${receipt.blockNumber} is after the newest final block ${final}`);
  if (receipt.partial) return unknown('its receipt is too large for the node');
  if (!receipt.succeeded) return undone('log differs: the transaction was reverted');
  const log = receipt.transfers.find(({ logIndex }) => logIndex === data.log_index);
  if (log === undefined) return undone(`log differs: log ${data.log_index} is no transfer`);
  const isSameBlock = receipt.blockNumber === data.block_number && receipt.blockHash === data.block_hash;
  const value = log.amountMinor.toString();
  const said: readonly (readonly [what: string, now: string, then: string | null])[] = [
    ['token', log.token, data.token],
    ['sender', log.from, data.from],
    ['recipient', log.to, data.to],
    ['value', value, data.value],
    ['value', value, toMinorUnits(data.amount).toString()],
    ['time of the block', timeOf(receipt), isSameBlock ? data.block_time : null],
  ];
  const different = said.find(([, now, then]) => then !== null && now !== then);
  if (different !== undefined) {
    const [what, now, then] = different;
    return undone(`log differs: the ${what} is ${now}, not ${then}`);
  }
  return isSameBlock
    ? { kind: 'unchanged' }
    : { kind: 'moved', why: `its transfer is in block ${receipt.blockNumber}, ${receipt.blockHash}` };
}

function missing(data: PayoutReceived['data'], final: number, hashAtHeight: string | undefined): Rechecked {
  const { block_number: height, block_hash: hash } = data;
  if (final < height)
    return unknown(`the newest final block of the node is ${final}, before its block ${height}`);
  if (hashAtHeight === undefined) return unknown(`the node does not return its block ${height}`);
  return hash === hashAtHeight
    ? undone(`receipt missing: block ${height} is on the chain, and the node has no such transaction`)
    : undone(`block not canonical: block ${height} of the chain is ${hashAtHeight}, not ${hash}`);
}

function timeOf({ blockTime }: TransactionReceipt): string {
  return new Date((blockTime ?? 0) * 1000).toISOString();
}

function undone(why: string): Rechecked {
  return { kind: 'undone', why };
}

function unknown(why: string): Rechecked {
  return { kind: 'unknown', why };
}
