import { createHash } from 'node:crypto';
import { isQuantity, isWord, TRANSFER_TOPIC } from '../../../platform/chain/values.js';
import type { ReceiptSource, TransactionReceipt, TransferLog } from '../domain/verification.js';
import type { TransactionRequest } from '../application/ports.js';
import type { JsonRpcNode } from '../../../platform/chain/json-rpc-node.js';
import type { RpcResponse } from '../../../platform/chain/rpc-responses.js';

const HEX = /^0x[0-9a-f]+$/i;
/** A receipt with more is not kept, its hash is: some 400 logs. */
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

/** The part of an eth_getTransactionReceipt response that counts here. Some nodes return null for a list without items. */
interface RawReceipt {
  readonly transactionHash: string;
  readonly blockNumber: string | number;
  readonly blockHash: string;
  readonly status: string | number;
  readonly logs: readonly RawLog[] | null;
  readonly logsBloom?: unknown;
}

/**
 * What a node's response says of the transaction `hash`: its receipt, null when it is in no block, undefined when
 * nothing may be concluded from the response.
 */
function readReceipt(response: unknown, hash: string): TransactionReceipt | null | undefined {
  if (response === null) return null;
  if (typeof response !== 'object') return undefined;
  const { transactionHash, blockNumber } = response as { transactionHash?: unknown; blockNumber?: unknown };
  if (typeof transactionHash !== 'string' || transactionHash.toLowerCase() !== hash) return undefined;
  // Some nodes have a receipt of transactions that still wait for a block.
  if (blockNumber === null) return null;
  return isReceipt(response) ? parseReceipt(response) : undefined;
}

/** The transfers of one transaction in an eth_getLogs result; undefined when nothing may be concluded from it. */
function readTransfers(result: unknown, hash: string): readonly TransferLog[] | undefined {
  if (!Array.isArray(result) || !result.every(isLog)) return undefined;
  return result
    .filter((log) => String(log.transactionHash).toLowerCase() === hash)
    .flatMap((log, place) => parseTransfer(log, place));
}

function parseReceipt(receipt: RawReceipt): TransactionReceipt {
  // Some nodes number several logs alike, or none: then their order is that of the list.
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
 * ERC-20 transfers have three topics and one word of data; those of ERC-721 have four topics. Nodes number logs through
 * the whole block, and a reorganisation may move the transaction to another place in another block: `place` stays.
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

/** `text` is the receipt as the node sent it. */
function toSource(text: string): ReceiptSource {
  const bytes = Buffer.from(text);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { sha256, text: bytes.length > MAX_KEPT_BYTES ? null : text };
}

function isReceipt(response: object): response is RawReceipt {
  const { blockNumber, blockHash, status, logs, logsBloom } = response as Partial<RawReceipt>;
  if (!isQuantity(blockNumber) || !isQuantity(status) || Number(status) > 1) return false;
  if (!isWord(blockHash)) return false;
  // Only the bloom filter proves that a list is absent because there were no logs.
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

/** A transaction holds up to 128 KiB of input, in some nodes more; a block some hundred transfers of one token to one wallet. */
const MAX_BYTES = 4_194_304;
/** The whole receipt of a transaction that pays one of our wallets. */
const RECEIPT_BYTES = 33_554_432;

/**
 * A transaction whose receipt is too large to be requested: what block it is in, and its transfers of `token` to the
 * wallets alone, which the node filters out. Their places among all logs are not known: the receipt is `partial`.
 */
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

/** The receipt in a response, with its text where that was requested. */
export function readKept(response: RpcResponse, hash: string): TransactionReceipt | null | undefined {
  if (!('result' in response)) return undefined;
  const receipt = readReceipt(response.result, hash);
  if (!receipt || response.text === undefined) return receipt;
  return { ...receipt, source: toSource(response.text) };
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
