import type { Clock } from '../../kernel/clock.js';
import { readBlock, ChainUnavailable, NodeLimited, quantity, type Block } from './values.js';
import type { ChainRules } from './chain-rules.js';
import type { JsonRpcNode, RpcCall } from './json-rpc-node.js';
import { isKind, type RpcResponse } from './rpc-responses.js';

/** The maximum of blocks per request. It is low, because blocks contain the hashes of their transactions. */
const BLOCKS_PER_BATCH = 10;

const CHAIN_ID: RpcCall = { method: 'eth_chainId', params: [] };

export interface NodeRules extends Pick<ChainRules, 'finality' | 'maxHeadAgeSeconds'> {
  readonly chainId: number;
}

export interface ChainHeads {
  readonly head: Block;
  readonly final: Block;
}

/**
 * Reads the newest and the final block. Throws ChainUnavailable for another chain or an old or missing block.
 * `eth_syncing` is not used: providers lack it, and synced nodes report it for days during indexing.
 */
export async function chainHeads(node: JsonRpcNode, rules: NodeRules, clock: Clock): Promise<ChainHeads> {
  const { finality, maxHeadAgeSeconds } = rules;
  const tags = typeof finality === 'number' ? [] : [blockCall(finality)];
  // The newest block is read last, so that a concurrent block cannot put the final one ahead of it.
  const responses = await node.ask([CHAIN_ID, ...tags, blockCall('latest')]);
  const tagged = check(responses, rules);
  const head = readBlock(rpcResult(responses.at(-1)!));
  if (head === null) throw new ChainUnavailable('the node returns no newest block');
  const age = Math.round(clock.now().getTime() / 1000 - head.timestamp);
  if (maxHeadAgeSeconds > 0 && Math.abs(age) > maxHeadAgeSeconds) {
    throw new ChainUnavailable(`the newest block of the node is ${age} s old`);
  }
  const final = tagged ?? (await confirmed(node, head, Number(finality)));
  const isAncestor =
    final.number < head.number ? final.timestamp <= head.timestamp : final.hash === head.hash;
  if (final.number > head.number || !isAncestor)
    throw new ChainUnavailable('the final block of the node contradicts its newest one');
  return { head, final };
}

async function confirmed(node: JsonRpcNode, head: Block, confirmations: number): Promise<Block> {
  if (confirmations === 1) return head;
  const number = Math.max(0, head.number - confirmations + 1);
  const block = (await blocksAt(node, [number])).get(number);
  if (block === undefined) throw new ChainUnavailable('the node does not return a block');
  return block;
}

/** Reads the blocks at these heights, and omits missing blocks. Throws NodeLimited at a rate limit. */
export async function blocksAt(
  node: JsonRpcNode,
  numbers: readonly number[],
): Promise<ReadonlyMap<number, Block>> {
  const calls = numbers.map((number) => blockCall(quantity(number)));
  const responses = await node.ask(calls, { batch: BLOCKS_PER_BATCH });
  const blocks = new Map<number, Block>();
  responses.forEach((response, place) => {
    if (isKind(response, 'limited')) rpcResult(response);
    const block = 'result' in response ? readBlock(response.result) : null;
    if (block?.number === numbers[place]) blocks.set(block!.number, block!);
  });
  return blocks;
}

/** Returns the result. Throws NodeLimited for a rate limit, and ChainUnavailable for another refusal. */
export function rpcResult(response: RpcResponse): unknown {
  if ('result' in response) return response.result;
  const { kind, message } = response.refused;
  if (kind === 'limited') throw new NodeLimited(message);
  throw new ChainUnavailable(kind === 'denied' ? message : `the node is unavailable: ${message}`);
}

/** Checks the chain id. Returns the final block where `finality` is a block tag, else null. */
function check(
  [chainId, final]: readonly RpcResponse[],
  { chainId: expected, finality }: NodeRules,
): Block | null {
  const id = Number(rpcResult(chainId!));
  if (id !== expected) throw new ChainUnavailable(`the node is on chain ${id}, not ${expected}`);
  if (typeof finality === 'number') return null;
  const isUnknown = isKind(final!, 'error') || isKind(final!, 'status');
  const block = isUnknown ? null : readBlock(rpcResult(final!));
  if (block === null)
    throw new ChainUnavailable(`the node has no ${finality} block, which PAYOUT_FINALITY requires`);
  return block;
}

function blockCall(tag: string): RpcCall {
  return { method: 'eth_getBlockByNumber', params: [tag, false] };
}
