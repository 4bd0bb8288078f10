import type { RpcCall, TestNode } from '../../support/payouts/test-node.js';
import { randomHash } from '../../support/payouts/payout-calls.js';

export interface Receipt {
  readonly transactionHash: string;
  readonly blockNumber: string;
  readonly status: string;
}

interface Lie {
  readonly name: string;
  /** All responses agree, so that a single node would be believed. */
  readonly consistent?: true;
  apply(node: TestNode, ghosts: readonly Receipt[]): Promise<void> | void;
}

const RECEIPT = 'eth_getTransactionReceipt';
const isReceipt = ({ method }: RpcCall): boolean => method === RECEIPT;

export const LIES: readonly Lie[] = [
  { name: 'frozen', apply: (node) => node.freeze() },
  {
    name: 'null at random',
    apply: (node) =>
      node.tamper(({ method }) =>
        (method === RECEIPT && Math.random() < 0.5) ||
        (method === 'eth_getTransactionByHash' && Math.random() < 0.05)
          ? { result: null }
          : undefined,
      ),
  },
  {
    name: 'blocks that are gone',
    apply: (node, ghosts) =>
      node.tamper((call) => {
        const ghost = ghosts.find(
          ({ transactionHash }) => isReceipt(call) && call.params[0] === transactionHash,
        );
        return ghost === undefined ? undefined : { result: ghost };
      }),
  },
  {
    name: 'another chain',
    apply: (node) => node.tamper(({ method }) => (method === 'eth_chainId' ? { result: '0x1' } : undefined)),
  },
  { name: 'slow', apply: (node) => node.delayFor(isReceipt, 6000) },
  { name: 'endless', apply: (node) => node.neverEnd() },
  { name: 'other transactions', apply: (node) => changeReceipts(node, { transactionHash: randomHash() }) },
  { name: 'other blocks', apply: (node) => changeReceipts(node, { blockHash: randomHash() }) },
  {
    name: 'errors',
    apply: (node) =>
      node.tamper((call) =>
        isReceipt(call) ? { error: { code: -32_008, message: 'too large' } } : undefined,
      ),
  },
  {
    name: 'logs numbered alike',
    apply: (node) =>
      node.tamper((call, { result }) => {
        if (!isReceipt(call) || result === null) return undefined;
        const { logs } = result as { readonly logs: readonly object[] };
        const other = logs.map((log) => ({ ...log, topics: [], data: '0x' }));
        return { result: { ...(result as object), logs: [...logs, ...other] } };
      }),
  },
  { name: 'too many requests', apply: (node) => node.respondToAll('', 429) },
  ...[
    { code: -32_016, message: 'over rate limit' },
    { code: -32_007, message: '50/second request limit reached' },
    { code: -32_099, message: 'rabbit hole is full' },
  ].map((error): Lie => ({
    name: `${error.message} in each item`,
    apply: (node) => node.tamper(() => ({ error })),
  })),
  {
    name: 'capacity for half of a batch',
    apply: (node) =>
      node.rewrite((responses) =>
        responses.map((each, n) =>
          n < responses.length / 2
            ? each
            : { ...each, result: undefined, error: { code: 429, message: 'requests per second' } },
        ),
      ),
  },
  {
    name: 'syncing, with the newest block',
    apply: (node) =>
      node.tamper(({ method }) =>
        method === 'eth_syncing' ? { result: { currentBlock: '0x0', stages: [] } } : undefined,
      ),
  },
  { name: 'cut', apply: (node) => node.cutFor((call) => isReceipt(call) && Math.random() < 0.5) },
  { name: 'unavailable', apply: (node) => node.goDown() },
  {
    name: 'nothing was ever sent',
    consistent: true,
    apply: (node) =>
      node.tamper(({ method }) =>
        method === RECEIPT || method === 'eth_getTransactionByHash' ? { result: null } : undefined,
      ),
  },
  {
    name: 'everything failed',
    consistent: true,
    apply: (node) => changeReceipts(node, { status: '0x0', logs: [] }),
  },
];

function changeReceipts(node: TestNode, fields: object): void {
  node.tamper((call, { result }) =>
    isReceipt(call) && result !== null ? { result: { ...(result as object), ...fields } } : undefined,
  );
}
