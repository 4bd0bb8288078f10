import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { JsonRpcChain } from '../../../src/contexts/payouts/verification/json-rpc-chain.adapter.js';
import type {
  ChainObservation,
  TransactionRequest,
} from '../../../src/contexts/payouts/verification/chain.ports.js';
import { systemClock } from '../../../src/kernel/clock.js';
import { eventually } from '../eventually.js';
import { CHAIN_ID, TestChain } from './chain.js';
import { TestNode, type RpcCall } from './test-node.js';
import { chainConfig } from '../../../src/platform/config/config.js';

/** A hash of no transaction. */
export const NOWHERE = `0x${'ab'.repeat(32)}`;

export const requested = (hashes: readonly string[]): readonly TransactionRequest[] =>
  hashes.map((hash) => ({ hash, wallets: [] }));

export type RawReceipt = Record<string, unknown> & { readonly logs: readonly Record<string, unknown>[] };

/** The node returns an error for these hashes. */
export const refusing =
  (...hashes: readonly string[]) =>
  ({ params }: RpcCall) =>
    hashes.includes(String(params[0]))
      ? { error: { code: -32008, message: 'response too large' } }
      : undefined;

export function isReady(reader: JsonRpcChain): Promise<boolean> {
  return reader.ping().then(
    () => true,
    () => false,
  );
}

/** A chain behind a node that can fail, and its reader. */
export class ReadChain {
  chain!: TestChain;
  node!: TestNode;
  reader!: JsonRpcChain;

  static forSuite(): ReadChain {
    const read = new ReadChain();
    beforeAll(async () => {
      const chain = await TestChain.start();
      Object.assign(read, { chain, node: await TestNode.start(chain.rpcUrl) });
      Object.assign(read, { reader: read.over({ chainRpcUrl: read.node.url }) });
    });
    afterEach(async () => {
      read.node.comeBack();
      // A node that limited the rate gets no request for a while.
      await eventually(() => isReady(read.reader));
    });
    afterAll(async () => {
      read.reader.onApplicationShutdown();
      await Promise.all([read.node.stop(), read.chain.stop()]);
    });
    return read;
  }

  over(settings: object): JsonRpcChain {
    const { usdcAddress } = this.chain;
    return new JsonRpcChain({ ...chainConfig({}), chainId: CHAIN_ID, usdcAddress, ...settings }, systemClock);
  }

  /** Transfers 1 USDC, and returns the hash. The node changes the receipt afterwards. */
  async withReceipt(change: (receipt: RawReceipt) => unknown): Promise<string> {
    const { hash } = await this.chain.transfer(this.chain.newAddress(), '1');
    const honest = (await this.chain.rpc('eth_getTransactionReceipt', [hash])) as RawReceipt;
    const result = change(honest);
    this.node.tamper(({ method }) => (method === 'eth_getTransactionReceipt' ? { result } : undefined));
    return hash;
  }

  read = (hashes: readonly string[]): Promise<ChainObservation> => this.reader.read(requested(hashes));
}
