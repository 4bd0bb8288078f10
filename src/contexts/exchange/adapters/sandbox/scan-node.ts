import type { Clock } from '../../../../kernel/clock.js';
import type { Block } from '../../../../platform/chain/block.js';
import { ChainUnavailable } from '../../../../platform/chain/chain-unavailable.js';
import { JsonRpcNode, type RpcResponse } from '../../../../platform/chain/json-rpc-node.js';
import {
  blocksAt,
  headsOf,
  resultOf,
  type Heads,
  type NodeRules,
} from '../../../../platform/chain/node-state.js';
import { quantity, TRANSFER_TOPIC } from '../../../../platform/chain/values.js';
import { readTransferLogs, type TokenTransfer } from './transfer-logs.js';

/** Blocks that one request asks for at most; fewer once a node refuses so many, or what it sends is too large. */
const MOST_BLOCKS = 500;
/** Of several blocks, and of one that cannot be parted any more. */
const RANGE_BYTES = 8_388_608;
const BLOCK_BYTES = 33_554_432;
const TIMEOUT_MS = 10_000;

/** The token's transfers as one node tells of them. */
export class ScanNode {
  private readonly node: JsonRpcNode;
  private span = MOST_BLOCKS;

  constructor(
    private readonly options: NodeRules & {
      readonly url: string;
      /** The contract of the token, in lower case. */
      readonly token: string;
    },
    private readonly clock: Clock,
  ) {
    this.node = new JsonRpcNode(options.url);
  }

  heads(): Promise<Heads> {
    return headsOf(this.node, this.options, this.clock);
  }

  /** By height. Throws {@link ChainUnavailable} for one that the node does not tell. */
  async blocks(numbers: readonly number[]): Promise<(number: number) => Block> {
    const blocks = await blocksAt(this.node, [...new Set(numbers)]);
    return (number) => {
      const block = blocks.get(number);
      if (block === undefined) throw new ChainUnavailable('the node does not tell a block');
      return block;
    };
  }

  /** All transfers in these blocks. Throws {@link ChainUnavailable} when the node does not tell them. */
  async transfers(from: number, to: number): Promise<readonly TokenTransfer[]> {
    const found: TokenTransfer[] = [];
    for (let at = from; at <= to;) {
      const end = Math.min(to, at + this.span - 1);
      const response = await this.logs({ fromBlock: quantity(at), toBlock: quantity(end) }, end === at);
      const part = 'result' in response ? this.read(response.result, at, end) : null;
      if (part === null) {
        if (end === at || isUnreachable(response)) resultOf(response);
        this.span = Math.max(1, Math.floor((end - at + 1) / 2));
        continue;
      }
      found.push(...part);
      at = end + 1;
      this.span = Math.min(MOST_BLOCKS, this.span + Math.ceil(this.span / 8));
    }
    return found;
  }

  /** Those in one block to these addresses: another question, whose answer has to agree with {@link transfers}. */
  async transfersTo(
    block: { readonly number: number; readonly hash: string },
    addresses: readonly string[],
  ): Promise<readonly TokenTransfer[]> {
    const recipients = [...new Set(addresses)].map((address) => `0x${address.slice(2).padStart(64, '0')}`);
    const result = resultOf(await this.logs({ blockHash: block.hash }, true, recipients));
    const found = this.read(result, block.number, block.number);
    if (found.some(({ blockHash }) => blockHash !== block.hash)) throw nonsense();
    return found;
  }

  async close(): Promise<void> {
    await this.node.close();
  }

  private async logs(
    where: object,
    isOneBlock: boolean,
    recipients?: readonly string[],
  ): Promise<RpcResponse> {
    const topics = recipients === undefined ? [TRANSFER_TOPIC] : [TRANSFER_TOPIC, null, recipients];
    const params = [{ ...where, address: this.options.token, topics }];
    const options = { batch: 1, timeoutMs: TIMEOUT_MS, maxBytes: isOneBlock ? BLOCK_BYTES : RANGE_BYTES };
    const [response] = await this.node.ask([{ method: 'eth_getLogs', params }], options);
    return response!;
  }

  private read(result: unknown, from: number, to: number): readonly TokenTransfer[] {
    const transfers = readTransferLogs(result, { token: this.options.token, from, to });
    if (transfers === null) throw nonsense();
    return transfers;
  }
}

function isUnreachable(response: RpcResponse): boolean {
  return 'refused' in response && response.refused.kind === 'unavailable';
}

function nonsense(): ChainUnavailable {
  return new ChainUnavailable('the node tells transfers that are none of what was asked for');
}
