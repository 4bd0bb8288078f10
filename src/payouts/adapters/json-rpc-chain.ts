import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { JsonRpcProvider } from 'ethers';
import { CONFIG, type Config } from '../../platform/config/config.js';
import { ChainUnavailable, type ChainLook, type ChainReader } from '../application/ports.js';
import type { TransactionReceipt } from '../domain/verification.js';
import { readReceipt } from './receipt.js';

/** What nodes take in one JSON-RPC batch, and how long calls wait for company, in ms. */
const BATCH_CALLS = 100;
const BATCH_STALL_MS = 5;
const NODE_TIMEOUT_MS = 10_000;

/** A hash that no EVM chain can have; asking a node for it would be an error instead of "no such transaction". */
const EVM_HASH = /^0x[0-9a-f]{64}$/;

/** {@link ChainReader} over a JSON-RPC node; calls travel in batches. */
@Injectable()
export class JsonRpcChain implements ChainReader, OnApplicationShutdown {
  private provider: Promise<JsonRpcProvider> | null = null;

  constructor(@Inject(CONFIG) private readonly config: Pick<Config, 'chainRpcUrl' | 'chainId'>) {}

  async look(hashes: readonly string[]): Promise<ChainLook> {
    const node = await this.node();
    const possible = hashes.filter((hash) => EVM_HASH.test(hash));
    // The head first: a block that comes meanwhile can only make a transfer look less confirmed than it is.
    const [head] = await Promise.all([this.head(node), this.check(node)]);
    const answers = await Promise.allSettled(
      possible.map((hash) => node.send('eth_getTransactionReceipt', [hash]) as Promise<unknown>),
    );
    const receipts = new Map<string, TransactionReceipt | null>();
    for (const hash of hashes) if (!EVM_HASH.test(hash)) receipts.set(hash, null);
    answers.forEach((answer, place) => {
      const hash = possible[place]!;
      if (answer.status === 'rejected') return;
      const receipt = readReceipt(answer.value, hash);
      if (receipt !== undefined) receipts.set(hash, receipt);
    });
    if (possible.length > 0 && answers.every(({ status }) => status === 'rejected')) {
      throw new ChainUnavailable('the node answered none of the calls');
    }
    return { head, receipts };
  }

  async ping(): Promise<void> {
    await this.check(await this.node());
  }

  close(): void {
    void this.provider?.then((provider) => provider.destroy()).catch(() => undefined);
    this.provider = null;
  }

  onApplicationShutdown(): void {
    this.close();
  }

  private async head(node: JsonRpcProvider): Promise<number> {
    const answer = await call(node, 'eth_blockNumber');
    const head = Number(answer);
    if (typeof answer !== 'string' || answer === '' || !Number.isSafeInteger(head) || head < 0)
      throw new ChainUnavailable('the node tells no block number');
    return head;
  }

  private async check(node: JsonRpcProvider): Promise<void> {
    const [chainId, syncing] = await Promise.all([call(node, 'eth_chainId'), call(node, 'eth_syncing')]);
    if (Number(chainId) !== this.config.chainId) {
      throw new ChainUnavailable(`the node is on chain ${Number(chainId)}, not ${this.config.chainId}`);
    }
    if (syncing !== false) throw new ChainUnavailable('the node is syncing');
  }

  /** ethers is loaded with the first look: it is most of what a process would load at boot. */
  private node(): Promise<JsonRpcProvider> {
    this.provider ??= import('ethers').then(({ FetchRequest, JsonRpcProvider, Network }) => {
      const request = new FetchRequest(this.config.chainRpcUrl ?? '');
      request.timeout = NODE_TIMEOUT_MS;
      const network = Network.from(this.config.chainId);
      return new JsonRpcProvider(request, network, {
        staticNetwork: network,
        batchMaxCount: BATCH_CALLS,
        batchStallTime: BATCH_STALL_MS,
        cacheTimeout: -1,
      });
    });
    return this.provider;
  }
}

async function call(node: JsonRpcProvider, method: string): Promise<unknown> {
  try {
    return (await node.send(method, [])) as unknown;
  } catch {
    // What the driver says may hold the node's address, and with it a key.
    throw new ChainUnavailable('the node is away');
  }
}
