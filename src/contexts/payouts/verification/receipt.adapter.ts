import { createHash } from 'node:crypto';
import { isQuantity, isWord, TRANSFER_TOPIC } from '../../../platform/chain/values.js';
import type { ReceiptSource, TransactionReceipt, TransferLog } from './verification.js';
import type { TransactionRequest } from './chain.ports.js';
import type { JsonRpcNode } from '../../../platform/chain/json-rpc-node.js';
import type { RpcResponse } from '../../../platform/chain/rpc-responses.js';

const HEX = /^0x[0-9a-f]+$/i;
/** The size limit of a stored receipt, some 400 logs. A larger receipt is stored only as its hash. */
const MAX_KEPT_BYTES = 262_144;

interface RawLog {
  readonly address: string;
  readonly topics: readonly string[] | null;
  readonly data: string;
  readonly logIndex?: string | number | null;
  readonly transactionHash?: unknown;
  readonly blockNumber?: unknown;
  readonly removed?: boolean;
}

/** The used part of an eth_getTransactionReceipt response. Some nodes return null for an empty list. */
interface RawReceipt {
  readonly transactionHash: string;
  readonly blockNumber: string | number;
  readonly blockHash: string;
  readonly status: string | number;
  readonly logs: readonly RawLog[] | null;
  readonly logsBloom?: unknown;
}

/** Reads the transfers of a transaction from an eth_getLogs result; undefined if the result is unusable. */
function readTransfers(result: unknown, hash: string): readonly TransferLog[] | undefined {
  if (!Array.isArray(result) || !result.every(isLog)) return undefined;
  return result
    .filter((log) => String(log.transactionHash).toLowerCase() === hash)
    .flatMap((log, place) => parseTransfer(log, place));
}

function parseReceipt(receipt: RawReceipt): TransactionReceipt {
  // Some nodes repeat or omit log indexes. The order of their logs is then used.
  const listed = receipt.logs ?? [];
  const indexes = new Set(listed.flatMap(({ logIndex }) => (isQuantity(logIndex) ? [Number(logIndex)] : [])));
  const logs =
    indexes.size === listed.length
      ? [...listed].sort((a, b) => Number(a.logIndex) - Number(b.logIndex))
      : listed;
  return {
    succeeded: Number(receipt.status) === 1,
    blockNumber: Number(receipt.blockNumber),
    blockHash: receipt.blockHash.toLowerCase(),
    transfers: logs.flatMap(parseTransfer),
  };
}

/**
 * Reads an ERC-20 transfer: three topics and one word of data. ERC-721 has four topics. Unlike the index of
 * the log in its block, `place` does not change in a reorganisation.
 */
function parseTransfer({ address, topics, data, removed }: RawLog, place: number): TransferLog[] {
  const [topic, from, to] = topics ?? [];
  if (removed === true || topics?.length !== 3 || topic?.toLowerCase() !== TRANSFER_TOPIC) return [];
  if (!isWord(data) || !isWord(from) || !isWord(to)) return [];
  return [
    {
      token: address.toLowerCase(),
      from: addressIn(from),
      to: addressIn(to),
      amountMinor: BigInt(data),
      logIndex: place,
    },
  ];
}

function addressIn(word: string): string {
  return `0x${word.slice(-40).toLowerCase()}`;
}

function toSource(text: string): ReceiptSource {
  const bytes = Buffer.from(text);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { sha256, text: bytes.length > MAX_KEPT_BYTES ? null : text };
}

function isReceipt(response: object): response is RawReceipt {
  const { blockNumber, blockHash, status, logs, logsBloom } = response as Partial<RawReceipt>;
  if (!isQuantity(blockNumber) || !isQuantity(status) || Number(status) > 1) return false;
  if (!isWord(blockHash)) return false;
  // An absent list is only valid with an empty bloom filter.
  if (logs === null) return /^0x0+$/.test(String(logsBloom));
  return Array.isArray(logs) && logs.every(isLog);
}

function isLog(log: unknown): log is RawLog {
  if (typeof log !== 'object' || log === null) return false;
  const { address, topics, data, logIndex } = log as Partial<RawLog>;
  return (
    typeof address === 'string' &&
    HEX.test(address) &&
    typeof data === 'string' &&
    (logIndex === undefined || logIndex === null || isQuantity(logIndex)) &&
    (topics === null || (Array.isArray(topics) && topics.every((topic) => typeof topic === 'string')))
  );
}

/** The byte limit of a response with few transfers or one transaction, whose input may exceed 128 KiB. */
const MAX_BYTES = 4_194_304;
/** The byte limit of the whole receipt of a transaction with a relevant transfer. */
const RECEIPT_BYTES = 33_554_432;

/** Reads block and transfers of a large receipt. The result is `partial`: the logs' places are unknown. */
export async function readLargeTransaction(
  node: JsonRpcNode,
  { hash, wallets }: TransactionRequest,
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

export async function readWholeReceipt(
  node: JsonRpcNode,
  hash: string,
): Promise<TransactionReceipt | null | undefined> {
  const call = { method: 'eth_getTransactionReceipt', params: [hash] };
  const options = { batch: 1, maxBytes: RECEIPT_BYTES, timeoutMs: 10_000, texts: true };
  const [response] = await node.ask([call], options);
  return readReceipt(response!, hash);
}

/** Reads a receipt; null for a transaction in no block, undefined for an unusable response. */
export function readReceipt(response: RpcResponse, hash: string): TransactionReceipt | null | undefined {
  if (!('result' in response)) return undefined;
  const { result, text } = response;
  if (result === null) return null;
  if (typeof result !== 'object') return undefined;
  const { transactionHash, blockNumber } = result as { transactionHash?: unknown; blockNumber?: unknown };
  if (typeof transactionHash !== 'string' || transactionHash.toLowerCase() !== hash) return undefined;
  // Some nodes return receipts of transactions without a block.
  if (blockNumber === null) return null;
  if (!isReceipt(result)) return undefined;
  return text === undefined ? parseReceipt(result) : { ...parseReceipt(result), source: toSource(text) };
}

/** Reads the block of an eth_getTransactionByHash response; null or undefined as in {@link readReceipt}. */
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
