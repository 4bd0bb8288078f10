import type { TransactionReceipt } from '../domain/verification.js';
import type { RequestedTransaction } from '../application/ports.js';
import type { JsonRpcNode, RpcResponse } from '../../../platform/chain/json-rpc-node.js';
import { isQuantity, TRANSFER_TOPIC } from '../../../platform/chain/values.js';
import { readReceipt, readTransfers, sourceOf } from './receipt.js';

/** A transaction holds up to 128 KiB of input, in some nodes more; a block some hundred transfers of one token to one wallet. */
const MAX_BYTES = 4_194_304;
/** The whole receipt of a transaction that pays one of our wallets. */
const RECEIPT_BYTES = 33_554_432;

/**
 * A transaction whose receipt is too large to be asked for: what block it is in, and its transfers of `token` to the
 * wallets alone, which the node filters out. Their places among all logs are not known: the receipt is `partial`.
 */
export async function readLargeTransaction(
  node: JsonRpcNode,
  { hash, wallets }: RequestedTransaction,
  token: string,
): Promise<TransactionReceipt | null | undefined> {
  const options = { batch: 1, maxBytes: MAX_BYTES };
  const [transaction] = await node.ask([{ method: 'eth_getTransactionByHash', params: [hash] }], options);
  const place = readPlace(transaction!, hash);
  if (place === null || place === undefined) return place;
  const recipients = wallets.map((wallet) => `0x${wallet.slice(2).toLowerCase().padStart(64, '0')}`);
  const filter = { blockHash: place.blockHash, address: token, topics: [TRANSFER_TOPIC, null, recipients] };
  const [logs] = await node.ask([{ method: 'eth_getLogs', params: [filter] }], options);
  const transfers = 'result' in logs! ? readTransfers(logs.result, hash) : undefined;
  return transfers === undefined ? undefined : { succeeded: true, partial: true, ...place, transfers };
}

/** The whole receipt, however large within reason: once it is known that it holds a transfer of ours. */
export async function readWholeReceipt(
  node: JsonRpcNode,
  hash: string,
): Promise<TransactionReceipt | null | undefined> {
  const call = { method: 'eth_getTransactionReceipt', params: [hash] };
  const options = { batch: 1, maxBytes: RECEIPT_BYTES, timeoutMs: 10_000, texts: true };
  const [response] = await node.ask([call], options);
  return readKept(response!, hash);
}

/** The receipt in a response that was asked for with its text, which stays with it. */
export function readKept(response: RpcResponse, hash: string): TransactionReceipt | null | undefined {
  if (!('result' in response)) return undefined;
  const receipt = readReceipt(response.result, hash);
  if (!receipt || response.text === undefined) return receipt;
  return { ...receipt, source: sourceOf(response.text) };
}

/** The block of a transaction, from an eth_getTransactionByHash response; null when it is in none. */
export function readPlace(
  response: RpcResponse,
  hash: string,
): { blockNumber: number; blockHash: string } | null | undefined {
  if (!('result' in response)) return undefined;
  if (response.result === null) return null;
  if (typeof response.result !== 'object') return undefined;
  const { hash: of, blockHash, blockNumber } = response.result as Record<string, unknown>;
  if (typeof of !== 'string' || of.toLowerCase() !== hash) return undefined;
  if (blockNumber === null || blockNumber === undefined) return null;
  if (!isQuantity(blockNumber) || typeof blockHash !== 'string') return undefined;
  return { blockNumber: Number(blockNumber), blockHash: blockHash.toLowerCase() };
}
