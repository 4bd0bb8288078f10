import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CHAIN_ID } from '../../../test/support/payouts/chain.js';
import { ReadChain } from '../../../test/support/payouts/read-chain.js';
import type { Tampering } from '../../../test/support/payouts/test-node.js';
import { systemClock } from '../../kernel/clock.js';
import type { Finality } from '../config/config.js';
import { ChainUnavailable } from './values.js';
import { JsonRpcNode } from './json-rpc-node.js';
import { chainHeads, type ChainHeads } from './node-state.js';

/** In anvil a block is safe after 32 blocks and finalized after 64. */
const HEIGHT = 100;

describe('the final head of a chain', () => {
  let node: JsonRpcNode;

  afterAll(() => node.close());
  const setup = ReadChain.forSuite();
  beforeAll(async () => {
    node = new JsonRpcNode(setup.node.url);
    await setup.chain.mine(HEIGHT - Number(await setup.chain.rpc('eth_blockNumber')));
  });

  const rules = (finality: Finality) => ({ chainId: CHAIN_ID, maxHeadAgeSeconds: 0, finality });
  const heads = (finality: Finality): Promise<ChainHeads> => chainHeads(node, rules(finality), systemClock);
  const block =
    (tag: string, change: (block: Record<string, unknown>) => unknown): Tampering =>
    ({ method, params }, { result }) =>
      method === 'eth_getBlockByNumber' && params[0] === tag
        ? { result: change(result as Record<string, unknown>) }
        : undefined;

  it.each<[Finality, number]>([
    ['safe', HEIGHT - 32],
    ['finalized', HEIGHT - 64],
    [1, HEIGHT],
    [3, HEIGHT - 2],
    [1000, 0],
  ])('with finality %s is block %i of 100', async (finality, number) => {
    const { head, final } = await heads(finality);
    expect([head.number, final.number]).toEqual([HEIGHT, number]);
    expect(final).toEqual({
      number,
      hash: (await setup.chain.provider.getBlock(number))!.hash,
      timestamp: (await setup.chain.provider.getBlock(number))!.timestamp,
    });
  });

  it.each<[string, Tampering]>([
    [
      'an error, as nodes do for an unknown tag',
      ({ params }) =>
        params[0] === 'safe'
          ? { error: { code: -32602, message: 'hex string without 0x prefix' } }
          : undefined,
    ],
    ['null, as nodes do before their first safe block', block('safe', () => null)],
    ['something that is no block', block('safe', () => ({}))],
  ])('is unavailable if the response for the safe block is %s', async (_name, tampering) => {
    setup.node.tamper(tampering);
    const why = 'the node has no safe block, which PAYOUT_FINALITY requires';
    await expect(heads('safe')).rejects.toThrow(new ChainUnavailable(why));
    await expect(heads('finalized')).resolves.toMatchObject({ final: { number: HEIGHT - 64 } });
    await expect(heads(12)).resolves.toMatchObject({ final: { number: HEIGHT - 11 } });
  });

  it.each<[string, Tampering]>([
    ['above the newest block', block('safe', (safe) => ({ ...safe, number: '0x65' }))],
    ['later than the newest block', block('safe', (safe) => ({ ...safe, timestamp: '0xffffffff' }))],
    ['the newest block with another hash', block('safe', (safe) => ({ ...safe, number: '0x64' }))],
    ['above a newest block that went back', block('latest', (latest) => ({ ...latest, number: '0x10' }))],
  ])('is refused if it is %s', async (_name, tampering) => {
    setup.node.tamper(tampering);
    await expect(heads('safe')).rejects.toThrow('the final block of the node contradicts its newest one');
  });
});
