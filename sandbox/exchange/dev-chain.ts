import { DEV_CHAIN_ID } from '../../src/contexts/exchange/settings.js';
import type { Clock } from '../../src/kernel/clock.js';
import { quantity, TRANSFER_TOPIC, type Block } from '../../src/platform/chain/values.js';
import type { ChainRules } from '../../src/platform/chain/chain-rules.js';
import { JsonRpcNode } from '../../src/platform/chain/json-rpc-node.js';
import { blocksAt, headsOf, resultOf, type Heads } from '../../src/platform/chain/node-state.js';
import { readTransferLogs, type TokenTransfer } from './transfer-logs.js';

const MAX_BYTES = 33_554_432;
const TIMEOUT_MS = 10_000;

/** Blocks of the dev chain, and transfers of one token in them. Throws ChainUnavailable. */
export class DevChain {
  private readonly node: JsonRpcNode;
  /** The highest that was final: an earlier final head revokes nothing. */
  private highestFinal = 0;

  constructor(
    private readonly options: Pick<ChainRules, 'finality'> & {
      readonly url: string;
      /** Its contract, in lower case. */
      readonly token: string;
    },
    private readonly clock: Clock,
  ) {
    this.node = new JsonRpcNode(options.url);
  }

  /** The newest block, and the newest final one. Also throws for any other chain. */
  async heads(): Promise<Heads> {
    const rules = { chainId: DEV_CHAIN_ID, maxHeadAgeSeconds: 0, finality: this.options.finality };
    const heads = await headsOf(this.node, rules, this.clock);
    this.highestFinal = Math.max(this.highestFinal, heads.final.number);
    return heads;
  }

  /** By height; one that the chain does not have is left out. */
  blocks(numbers: Iterable<number>): Promise<ReadonlyMap<number, Block>> {
    return blocksAt(this.node, [...new Set(numbers)]);
  }

  /** To this address, in final blocks. */
  async finalTransfers(from: number, recipient: string): Promise<readonly TokenTransfer[]> {
    const { head } = await this.heads();
    const to = Math.min(head.number, this.highestFinal);
    return this.transfers(Math.max(0, Math.min(from, to)), to, recipient);
  }

  /** `recipient`: to this address alone. */
  async transfers(from: number, to: number, recipient?: string): Promise<readonly TokenTransfer[]> {
    const filter = { fromBlock: quantity(from), toBlock: quantity(to), address: this.options.token };
    const ofRecipient =
      recipient === undefined ? [] : [null, `0x${recipient.slice(2).toLowerCase().padStart(64, '0')}`];
    const call = {
      method: 'eth_getLogs',
      params: [{ ...filter, topics: [TRANSFER_TOPIC, ...ofRecipient] }],
    };
    const options = { batch: 1, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES };
    const [response] = await this.node.ask([call], options);
    return readTransferLogs(resultOf(response!));
  }

  close(): Promise<void> {
    return this.node.close();
  }
}
