import { DEV_CHAIN_ID } from '../../src/contexts/exchange/exchange.config.js';
import type { Clock } from '../../src/kernel/clock.js';
import { chainRules } from '../../src/platform/chain/chain-rules.js';
import type { ChainConfig } from '../../src/platform/config/config.js';
import { urlsIn } from '../../src/platform/config/settings.js';
import { JsonRpcNode } from '../../src/platform/chain/json-rpc-node.js';
import {
  blocksAt,
  chainHeads,
  rpcResult,
  type ChainHeads,
  type NodeRules,
} from '../../src/platform/chain/node-state.js';
import {
  ChainUnavailable,
  isQuantity,
  isWord,
  quantity,
  TRANSFER_TOPIC,
} from '../../src/platform/chain/values.js';

const MAX_BYTES = 33_554_432;
const TIMEOUT_MS = 10_000;

/** A transfer of test USDC, with addresses and hashes in lower case. */
export interface TokenTransfer {
  /** The id, which includes the block. The same transfer in another block has another id. */
  readonly id: string;
  readonly transactionHash: string;
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

/** Reads blocks and test USDC transfers of the dev chain. Throws ChainUnavailable for another chain too. */
export class DevChain {
  private readonly node: JsonRpcNode;
  private readonly rules: NodeRules;
  private readonly token: string;

  constructor(
    config: ChainConfig & {
      readonly chainRpcUrl: string;
      readonly usdcAddress: string;
    },
    private readonly clock: Clock,
  ) {
    this.node = new JsonRpcNode(urlsIn(config.chainRpcUrl)[0]!);
    this.rules = { chainId: DEV_CHAIN_ID, maxHeadAgeSeconds: 0, finality: chainRules(config).finality };
    this.token = config.usdcAddress.toLowerCase();
  }

  /** Returns the newest block and the newest final block. */
  heads(): Promise<ChainHeads> {
    return chainHeads(this.node, this.rules, this.clock);
  }

  blocks(numbers: Iterable<number>) {
    return blocksAt(this.node, [...new Set(numbers)]);
  }

  /** Returns transfers in the order of the chain; with `recipient` only those to this address. */
  async transfers(from: number, to: number, recipient?: string): Promise<readonly TokenTransfer[]> {
    const topics = [TRANSFER_TOPIC];
    const ofRecipient =
      recipient === undefined ? [] : [null, `0x${recipient.slice(2).toLowerCase().padStart(64, '0')}`];
    const filter = {
      fromBlock: quantity(from),
      toBlock: quantity(to),
      address: this.token,
      topics: [...topics, ...ofRecipient],
    };
    const call = { method: 'eth_getLogs', params: [filter] };
    const options = { batch: 1, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES };
    const [response] = await this.node.ask([call], options);
    const logs = rpcResult(response!);
    if (!Array.isArray(logs) || !logs.every(isTransfer))
      throw new ChainUnavailable('the node returned malformed transfers');
    return logs
      .toSorted(
        (a, b) => Number(a.blockNumber) - Number(b.blockNumber) || Number(a.logIndex) - Number(b.logIndex),
      )
      .map(transferOf);
  }

  close(): Promise<void> {
    return this.node.close();
  }
}

function transferOf(log: RawLog): TokenTransfer {
  const transactionHash = log.transactionHash.toLowerCase();
  const blockHash = log.blockHash.toLowerCase();
  const amountMinor = BigInt(log.data);
  return {
    id: `${transactionHash}:${Number(log.logIndex)}:${blockHash}:${amountMinor}`,
    transactionHash,
    to: `0x${log.topics[2].slice(-40).toLowerCase()}`,
    amountMinor,
    blockNumber: Number(log.blockNumber),
    blockHash,
  };
}

function isTransfer(log: unknown): log is RawLog {
  if (typeof log !== 'object' || log === null) return false;
  const { topics, data, blockNumber, blockHash, transactionHash, logIndex } = log as Partial<RawLog>;
  return (
    Array.isArray(topics) &&
    topics.length === 3 &&
    topics.every(isWord) &&
    [data, blockHash, transactionHash].every(isWord) &&
    isQuantity(blockNumber) &&
    isQuantity(logIndex)
  );
}
