import { randomHash } from './operations.js';
import type { RpcCall, TestNode } from '../../support/test-node.js';

export interface Receipt {
  readonly transactionHash: string;
  readonly blockNumber: string;
  readonly status: string;
}

/** What a node may tell instead of the truth. */
export interface Lie {
  readonly name: string;
  /** All of its responses agree with each other: a single node would be believed. */
  readonly consistent?: true;
  tell(node: TestNode, ghosts: readonly Receipt[]): Promise<void> | void;
}

const RECEIPT = 'eth_getTransactionReceipt';
const isReceipt = ({ method }: RpcCall): boolean => method === RECEIPT;

export const LIES: readonly Lie[] = [
  { name: 'frozen', tell: (node) => node.freeze() },
  {
    name: 'null at random',
    tell: (node) =>
      node.tamper(({ method }) =>
        (method === RECEIPT && Math.random() < 0.5) ||
        (method === 'eth_getTransactionByHash' && Math.random() < 0.05)
          ? { result: null }
          : undefined,
      ),
  },
  {
    name: 'blocks that are gone',
    tell: (node, ghosts) =>
      node.tamper((call) => {
        const ghost = ghosts.find(
          ({ transactionHash }) => isReceipt(call) && call.params[0] === transactionHash,
        );
        return ghost === undefined ? undefined : { result: ghost };
      }),
  },
  {
    name: 'another chain',
    tell: (node) => node.tamper(({ method }) => (method === 'eth_chainId' ? { result: '0x1' } : undefined)),
  },
  { name: 'slow', tell: (node) => node.delayFor(isReceipt, 6000) },
  { name: 'endless', tell: (node) => node.neverEnd() },
  {
    name: 'other transactions',
    tell: (node) => {
      const other = randomHash();
      node.tamper((call, { result }) =>
        isReceipt(call) && result !== null
          ? { result: { ...(result as object), transactionHash: other } }
          : undefined,
      );
    },
  },
  {
    name: 'other blocks',
    tell: (node) => {
      const other = randomHash();
      node.tamper((call, { result }) =>
        isReceipt(call) && result !== null
          ? { result: { ...(result as object), blockHash: other } }
          : undefined,
      );
    },
  },
  {
    name: 'errors',
    tell: (node) =>
      node.tamper((call) =>
        isReceipt(call) ? { error: { code: -32_008, message: 'too large' } } : undefined,
      ),
  },
  { name: 'too many requests', tell: (node) => node.respondToAll('', 429) },
  { name: 'cut', tell: (node) => node.cutFor((call) => isReceipt(call) && Math.random() < 0.5) },
  { name: 'unavailable', tell: (node) => node.goDown() },
  {
    name: 'nothing was ever sent',
    consistent: true,
    tell: (node) =>
      node.tamper(({ method }) =>
        method === RECEIPT || method === 'eth_getTransactionByHash' ? { result: null } : undefined,
      ),
  },
  {
    name: 'everything failed',
    consistent: true,
    tell: (node) =>
      node.tamper((call, { result }) =>
        isReceipt(call) && result !== null
          ? { result: { ...(result as object), status: '0x0', logs: [] } }
          : undefined,
      ),
  },
];
