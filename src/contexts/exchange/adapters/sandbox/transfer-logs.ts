import { isQuantity, isWord, TRANSFER_TOPIC } from '../../../../platform/chain/values.js';

/** A transfer of the token, with addresses and hashes in lower case. */
export interface TokenTransfer {
  readonly transactionHash: string;
  /** Among the transfers of the token in its transaction, from 0: the same in whatever block a reorganisation puts it. */
  readonly place: number;
  readonly to: string;
  readonly amountMinor: bigint;
  readonly blockNumber: number;
  readonly blockHash: string;
  /** Among all logs of its block. */
  readonly logIndex: number;
}

interface RawLog {
  readonly address: string;
  readonly topics: readonly [string, string, string];
  readonly data: string;
  readonly blockNumber: string;
  readonly blockHash: string;
  readonly transactionHash: string;
  readonly logIndex: string;
}

/**
 * What an eth_getLogs result says of all transfers of `token` in the blocks from `from` to `to`, in the order of the
 * chain. Null when any of it is not what was asked for, or contradicts the rest: then nothing may be concluded from it.
 */
export function readTransferLogs(
  result: unknown,
  { token, from, to }: { readonly token: string; readonly from: number; readonly to: number },
): readonly TokenTransfer[] | null {
  if (!Array.isArray(result) || !result.every((log) => isTransfer(log, token))) return null;
  const blockHashes = new Map<number, string>();
  const blockOf = new Map<string, number>();
  const seen = new Set<string>();
  const logs = [...result].sort(
    (a, b) => Number(a.blockNumber) - Number(b.blockNumber) || Number(a.logIndex) - Number(b.logIndex),
  );
  const places = new Map<string, number>();
  const transfers: TokenTransfer[] = [];
  for (const log of logs) {
    const blockNumber = Number(log.blockNumber);
    const blockHash = log.blockHash.toLowerCase();
    const transactionHash = log.transactionHash.toLowerCase();
    const index = `${blockNumber}:${Number(log.logIndex)}`;
    if (blockNumber < from || blockNumber > to || seen.has(index)) return null;
    if ((blockHashes.get(blockNumber) ?? blockHash) !== blockHash) return null;
    if ((blockOf.get(transactionHash) ?? blockNumber) !== blockNumber) return null;
    seen.add(index);
    blockHashes.set(blockNumber, blockHash);
    blockOf.set(transactionHash, blockNumber);
    const place = places.get(transactionHash) ?? 0;
    places.set(transactionHash, place + 1);
    transfers.push({
      transactionHash,
      place,
      to: `0x${log.topics[2].slice(-40).toLowerCase()}`,
      amountMinor: BigInt(log.data),
      blockNumber,
      blockHash,
      logIndex: Number(log.logIndex),
    });
  }
  return transfers;
}

function isTransfer(log: unknown, token: string): log is RawLog {
  if (typeof log !== 'object' || log === null) return false;
  const { address, topics, data, blockNumber, blockHash, transactionHash, logIndex, removed } =
    log as Partial<RawLog & { readonly removed: unknown }>;
  return (
    removed !== true &&
    typeof address === 'string' &&
    address.toLowerCase() === token &&
    Array.isArray(topics) &&
    topics.length === 3 &&
    topics.every(isWord) &&
    topics[0]!.toLowerCase() === TRANSFER_TOPIC &&
    isWord(data) &&
    isQuantity(blockNumber) &&
    isWord(blockHash) &&
    isWord(transactionHash) &&
    isQuantity(logIndex)
  );
}
