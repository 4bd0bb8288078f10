import { ChainUnavailable, isQuantity, isWord, TRANSFER_TOPIC } from '../../src/platform/chain/values.js';

/** A transfer of the token, with addresses and hashes in lower case. */
export interface TokenTransfer {
  readonly transactionHash: string;
  /** Of its log among those of its block. */
  readonly place: number;
  readonly to: string;
  readonly amountMinor: bigint;
  readonly blockNumber: number;
  readonly blockHash: string;
}

interface RawLog {
  readonly topics: readonly [string, string, string];
  readonly data: string;
  readonly blockNumber: string;
  readonly blockHash: string;
  readonly transactionHash: string;
  readonly logIndex: string;
}

/** The transfers of an eth_getLogs result, in the order of the chain. Throws ChainUnavailable when any of it is no transfer. */
export function readTransferLogs(result: unknown): readonly TokenTransfer[] {
  if (!Array.isArray(result) || !result.every(isTransfer))
    throw new ChainUnavailable('the node lists transfers that are none');
  const logs = [...result].sort(
    (a, b) => Number(a.blockNumber) - Number(b.blockNumber) || Number(a.logIndex) - Number(b.logIndex),
  );
  return logs.map((log) => ({
    transactionHash: log.transactionHash.toLowerCase(),
    place: Number(log.logIndex),
    to: `0x${log.topics[2].slice(-40).toLowerCase()}`,
    amountMinor: BigInt(log.data),
    blockNumber: Number(log.blockNumber),
    blockHash: log.blockHash.toLowerCase(),
  }));
}

function isTransfer(log: unknown): log is RawLog {
  if (typeof log !== 'object' || log === null) return false;
  const { topics, data, blockNumber, blockHash, transactionHash, logIndex } = log as Partial<RawLog>;
  return (
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
