import { rpc } from '../../../../sandbox/chain.js';
import type { TestNode } from '../../../support/payouts/test-node.js';
import { randomHash } from '../payouts.js';
import type { Fault, Faults } from './fault.js';
import { Stage } from './stage.js';

/** A fault of one of two nodes; the other one works. */
const node = (name: string, begin: (node: TestNode) => Promise<void> | void): Fault => ({
  name,
  alerts: ['ChainNodeUnavailable'],
  begin: async ({ nodes: [first] }) => begin(first),
  end: async ({ nodes: [first] }) => first.comeBack(),
});

export const chainFaults = (): Faults => ({
  start: () => Stage.start(),
  faults: [
    node('a node is down', (each) => each.goDown()),
    node('a node responds after 20 s', (each) => each.delayFor(() => true, 20_000)),
    node('a node is behind', (each) => each.freeze()),
    node('a node is on another chain', (each) =>
      each.tamper(({ method }) => (method === 'eth_chainId' ? { result: '0x1' } : undefined)),
    ),
    {
      name: 'all nodes are down',
      alerts: ['ChainUnavailable'],
      begin: async ({ nodes }) => nodes.forEach((each) => each.goDown()),
      end: async ({ nodes }) => nodes.forEach((each) => each.comeBack()),
    },
    {
      name: 'the chain makes no blocks',
      alerts: ['ChainUnavailable'],
      begin: async ({ shared }) =>
        void (await rpc((await shared.chain()).rpcUrl, 'evm_setIntervalMining', [0])),
      end: async ({ shared }) =>
        void (await rpc((await shared.chain()).rpcUrl, 'evm_setIntervalMining', [1])),
    },
    {
      name: 'nodes contradict themselves about transfers',
      alerts: ['ChainNodesDisagree'],
      // The alert counts the last five minutes.
      resolvedMs: 7 * 60_000,
      begin: async (stage) => {
        for (const each of stage.nodes)
          each.tamper(({ method }, { result }) =>
            method === 'eth_getTransactionReceipt' && result !== null
              ? { result: { ...(result as object), blockHash: randomHash() } }
              : undefined,
          );
        await stage.report(10, { paid: true });
      },
      end: async ({ nodes }) => nodes.forEach((each) => each.comeBack()),
    },
  ],
});
