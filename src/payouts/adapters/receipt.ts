import type { TransactionReceipt, TransferLog } from '../domain/verification.js';

/** keccak256("Transfer(address,address,uint256)"), the first topic of every ERC-20 transfer. */
const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

interface RawLog {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
  readonly logIndex: string;
  readonly removed?: boolean;
}

/** The part of an eth_getTransactionReceipt answer that counts here. */
export interface RawReceipt {
  readonly transactionHash: string;
  readonly blockNumber: string;
  readonly status: string;
  readonly logs: readonly RawLog[];
}

/** Whether a node's answer is a usable receipt of that very transaction, in a block. */
export function isReceipt(answer: unknown, hash: string): answer is RawReceipt {
  if (typeof answer !== 'object' || answer === null) return false;
  const { transactionHash, blockNumber, status, logs } = answer as Partial<RawReceipt>;
  return (
    typeof transactionHash === 'string' &&
    transactionHash.toLowerCase() === hash &&
    isHex(blockNumber) &&
    isHex(status) &&
    Array.isArray(logs) &&
    logs.every(isLog)
  );
}

export function parseReceipt(receipt: RawReceipt): TransactionReceipt {
  return {
    succeeded: Number(receipt.status) === 1,
    blockNumber: Number(receipt.blockNumber),
    transfers: receipt.logs.flatMap((log) => parseTransfer(log)),
  };
}

/** ERC-20 transfers have three topics and one word of data; those of ERC-721 have four topics. */
function parseTransfer(log: RawLog): TransferLog[] {
  const { topics, data } = log;
  if (log.removed === true || topics.length !== 3 || topics[0]?.toLowerCase() !== TRANSFER_TOPIC) return [];
  if (!/^0x[0-9a-f]{64}$/i.test(data)) return [];
  return [
    {
      token: log.address.toLowerCase(),
      to: `0x${topics[2]!.slice(-40).toLowerCase()}`,
      amountMinor: BigInt(data),
      logIndex: Number(log.logIndex),
    },
  ];
}

function isLog(log: unknown): log is RawLog {
  if (typeof log !== 'object' || log === null) return false;
  const { address, topics, data, logIndex } = log as Partial<RawLog>;
  return (
    isHex(address) &&
    typeof data === 'string' &&
    isHex(logIndex) &&
    Array.isArray(topics) &&
    topics.every((topic) => typeof topic === 'string')
  );
}

function isHex(text: unknown): text is string {
  return typeof text === 'string' && /^0x[0-9a-f]+$/i.test(text);
}
