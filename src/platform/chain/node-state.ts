import type { Clock } from '../../kernel/clock.js';
import { readBlock, type Block } from './block.js';
import { ChainUnavailable } from './chain-unavailable.js';
import type { JsonRpcNode, RpcCall, RpcResponse } from './json-rpc-node.js';
import { quantity } from './values.js';

/** Blocks carry the hashes of their transactions. */
const BLOCKS_PER_BATCH = 10;

const STATE: readonly RpcCall[] = [
  { method: 'eth_chainId', params: [] },
  { method: 'eth_syncing', params: [] },
];

export interface NodeRules {
  readonly chainId: number;
  /** 0: the chain mines on demand, and the age of its newest block says nothing. */
  readonly maxHeadAgeSeconds: number;
}

/** Throws {@link ChainUnavailable} unless the node is on the chain and up to date, as far as it says itself. */
export async function checkNode(node: JsonRpcNode, rules: NodeRules): Promise<void> {
  check(await node.ask(STATE), rules);
}

/** The newest block of a node that {@link checkNode} finds nothing wrong with. */
export async function headOf(node: JsonRpcNode, rules: NodeRules, clock: Clock): Promise<Block> {
  const [chainId, syncing, latest] = await node.ask([...STATE, blockCall('latest')]);
  check([chainId!, syncing!], rules);
  const head = readBlock(resultOf(latest!));
  if (head === null) throw new ChainUnavailable('the node tells no newest block');
  const age = Math.round(clock.now().getTime() / 1000 - head.timestamp);
  if (rules.maxHeadAgeSeconds > 0 && Math.abs(age) > rules.maxHeadAgeSeconds) {
    throw new ChainUnavailable(`the newest block of the node is ${age} s old`);
  }
  return head;
}

/** The blocks at these heights, by height; one that the node does not tell is left out. */
export async function blocksAt(
  node: JsonRpcNode,
  numbers: readonly number[],
): Promise<ReadonlyMap<number, Block>> {
  const calls = numbers.map((number) => blockCall(quantity(number)));
  const responses = await node.ask(calls, { batch: BLOCKS_PER_BATCH });
  const blocks = new Map<number, Block>();
  responses.forEach((response, place) => {
    const block = 'result' in response ? readBlock(response.result) : null;
    if (block?.number === numbers[place]) blocks.set(block!.number, block!);
  });
  return blocks;
}

/** Throws {@link ChainUnavailable} where the node refused. */
export function resultOf(response: RpcResponse): unknown {
  if ('result' in response) return response.result;
  const { kind, message } = response.refused;
  throw new ChainUnavailable(kind === 'denied' ? message : `the node is unavailable: ${message}`);
}

function check([chainId, syncing]: readonly RpcResponse[], rules: NodeRules): void {
  const id = Number(resultOf(chainId!));
  if (id !== rules.chainId) throw new ChainUnavailable(`the node is on chain ${id}, not ${rules.chainId}`);
  if (resultOf(syncing!) !== false) throw new ChainUnavailable('the node is syncing');
}

function blockCall(tag: string): RpcCall {
  return { method: 'eth_getBlockByNumber', params: [tag, false] };
}
