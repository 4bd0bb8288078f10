import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { CONFIG, type Config } from '../../platform/config/config.js';
import { ChainUnavailable, type ChainLook, type ChainReader } from '../application/ports.js';
import type { TransactionReceipt } from '../domain/verification.js';
import { Absences } from './absences.js';
import { JsonRpcNode, type RpcAnswer, type RpcCall } from './json-rpc-node.js';
import { readReceipt } from './receipt.js';

/** A hash that no EVM chain can have; asking a node for it would be an error instead of "no such transaction". */
const EVM_HASH = /^0x[0-9a-f]{64}$/;

const STATE: readonly RpcCall[] = [
  { method: 'eth_chainId', params: [] },
  { method: 'eth_syncing', params: [] },
];
const HEAD: readonly RpcCall[] = [
  ...STATE,
  { method: 'eth_blockNumber', params: [] },
  { method: 'eth_getBlockByNumber', params: ['latest', false] },
];

/** {@link ChainReader} over a JSON-RPC node; calls travel in batches. */
@Injectable()
export class JsonRpcChain implements ChainReader, OnApplicationShutdown {
  private readonly absences = new Absences();
  private connected: JsonRpcNode | null = null;

  constructor(@Inject(CONFIG) private readonly config: Pick<Config, 'chainRpcUrl' | 'chainId'>) {}

  async look(hashes: readonly string[]): Promise<ChainLook> {
    // The head first: a block that comes meanwhile can only make a transfer look less confirmed than it is.
    const head = await this.head();
    const receipts = new Map<string, TransactionReceipt | null>();
    const unknown: string[] = [];
    for (const hash of hashes) {
      if (EVM_HASH.test(hash) && !this.absences.has(hash)) unknown.push(hash);
      else receipts.set(hash, null);
    }
    const answers = await this.node().ask(
      unknown.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
    );
    answers.forEach((answer, place) => {
      const hash = unknown[place]!;
      const receipt = answer === null ? undefined : readReceipt(answer.result, hash);
      if (receipt === undefined) return;
      receipts.set(hash, receipt);
      if (receipt === null) this.absences.add(hash);
    });
    if (unknown.length > 0 && answers.every((answer) => answer === null)) {
      throw new ChainUnavailable('the node answered none of the calls');
    }
    return { head, receipts };
  }

  async ping(): Promise<void> {
    const [chainId, syncing] = await this.node().ask(STATE);
    this.check(chainId!, syncing!);
  }

  close(): void {
    void this.connected?.close().catch(() => undefined);
    this.connected = null;
  }

  onApplicationShutdown(): void {
    this.close();
  }

  private async head(): Promise<number> {
    const [chainId, syncing, blockNumber, latest] = await this.node().ask(HEAD);
    this.check(chainId!, syncing!);
    const number = answered(blockNumber!);
    const head = Number(number);
    if (typeof number !== 'string' || number === '' || !Number.isSafeInteger(head) || head < 0)
      throw new ChainUnavailable('the node tells no block number');
    this.absences.standAt(blockHash(latest!));
    return head;
  }

  private check(chainId: RpcAnswer, syncing: RpcAnswer): void {
    const id = Number(answered(chainId));
    if (id !== this.config.chainId) {
      throw new ChainUnavailable(`the node is on chain ${id}, not ${this.config.chainId}`);
    }
    if (answered(syncing) !== false) throw new ChainUnavailable('the node is syncing');
  }

  private node(): JsonRpcNode {
    const { chainRpcUrl } = this.config;
    if (chainRpcUrl === null) throw new ChainUnavailable('no node is configured');
    this.connected ??= new JsonRpcNode(chainRpcUrl);
    return this.connected;
  }
}

function answered(answer: RpcAnswer): unknown {
  if (answer === null) throw new ChainUnavailable('the node is away');
  return answer.result;
}

/** The hash of a block; null when the answer has none. */
function blockHash(answer: RpcAnswer): string | null {
  const block = answer?.result;
  if (typeof block !== 'object' || block === null) return null;
  const { hash } = block as { hash?: unknown };
  return typeof hash === 'string' ? hash : null;
}
