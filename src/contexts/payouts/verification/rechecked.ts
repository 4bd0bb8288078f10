import { toMinorUnits } from '../../../kernel/money.js';
import type { PayoutReceived } from '../payouts/payout-events.js';
import { toSighting, type TransactionReceipt } from './verification.js';

/** The result of a recheck. `moved` is a change of block (contract.md 10.3), `unknown` a lack of data. */
export type Rechecked =
  { readonly kind: 'unchanged' } | { readonly kind: 'moved' | 'undone' | 'unknown'; readonly why: string };

export interface RecheckSighting {
  /** The receipt; null when the transaction is in no block, undefined without a usable response. */
  readonly receipt: TransactionReceipt | null | undefined;
  readonly final: number;
  /** The hash of the block at the payout's height; undefined if not requested or unknown to the node. */
  readonly hashAtHeight: string | undefined;
}

/** Compares the transfer of a received payout with the chain, by the rules of verification. */
export function toRecheck(
  data: PayoutReceived['data'],
  { receipt, final, hashAtHeight }: RecheckSighting,
): Rechecked {
  if (receipt === undefined) return unknown('the node gave no usable response');
  if (receipt === null) return missing(data, final, hashAtHeight);
  if (receipt.blockNumber > final)
    return unknown(`its block ${receipt.blockNumber} is after the newest final block ${final}`);
  if (receipt.partial) return unknown('its receipt is too large for the node');
  if (!receipt.succeeded) return undone('log differs: the transaction was reverted');
  const log = receipt.transfers.find(({ logIndex }) => logIndex === data.log_index);
  if (log === undefined) return undone(`log differs: log ${data.log_index} is no transfer`);
  const now = toSighting(receipt, log);
  const differing = [
    ['token', now.token, data.token],
    ['recipient', now.to, data.to],
    ['value', now.value, toMinorUnits(data.amount).toString()],
    ['value', now.value, data.value],
    ['sender', now.from, data.from],
  ].find(([, is, was]) => is !== was);
  if (differing !== undefined)
    return undone(`log differs: the ${differing[0]} is ${differing[1]}, not ${differing[2]}`);
  if (now.block_number !== data.block_number || now.block_hash !== data.block_hash)
    return { kind: 'moved', why: `its transfer is in block ${now.block_number}, ${now.block_hash}` };
  return now.block_time === data.block_time
    ? { kind: 'unchanged' }
    : undone(`log differs: the time of the block is ${now.block_time}, not ${data.block_time}`);
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

function undone(why: string): Rechecked {
  return { kind: 'undone', why };
}

function unknown(why: string): Rechecked {
  return { kind: 'unknown', why };
}
