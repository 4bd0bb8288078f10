import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestChain } from '../../../../test/support/payouts/chain.js';
import { NOWHERE, ReadChain, requested } from '../../../../test/support/payouts/read-chain.js';
import type { TestNode } from '../../../../test/support/payouts/test-node.js';
import { ChainUnavailable } from './chain.ports.js';
import type { JsonRpcChain } from './json-rpc-chain.adapter.js';

const DECIMALS = '0x313ce567';
const word = (value: number): string => `0x${value.toString(16).padStart(64, '0')}`;

describe('the contract of USDC_ADDRESS', () => {
  const setup = ReadChain.forSuite();
  let chain: TestChain;
  let node: TestNode;
  let fresh: JsonRpcChain;
  beforeAll(() => {
    ({ chain, node } = setup);
  });
  const check = (over: object = {}): Promise<string | null> => {
    fresh = setup.over({ chainRpcUrl: node.url, ...over });
    return fresh.checkToken();
  };
  const decimals = (response: { readonly result: unknown } | { readonly error: object }): void =>
    node.tamper(({ method, params }) =>
      method === 'eth_call' && (params[0] as { data?: string }).data === DECIMALS ? response : undefined,
    );
  afterEach(() => fresh.onApplicationShutdown());

  it('is read only once', async () => {
    await expect(check()).resolves.toBeNull();
    const before = node.calls.filter((method) => method === 'eth_getCode').length;
    await fresh.read(requested([NOWHERE]));
    await fresh.ping();
    expect(node.calls.filter((method) => method === 'eth_getCode')).toHaveLength(before);
  });

  it.each(['0x', '0x0', '0x00'])('is reported as missing if its code is %s', async (code) => {
    const usdcAddress = chain.newAddress();
    node.tamper(({ method }) => (method === 'eth_getCode' ? { result: code } : undefined));
    await expect(check({ usdcAddress })).resolves.toBe(
      `USDC_ADDRESS (${usdcAddress}) is no contract on chain 31337.`,
    );
  });

  it.each([
    [{ result: word(18) }, 'is a token with 18 decimals: USDC has 6.'],
    [{ result: '0x' }, 'is a contract without decimals(): it is no token.'],
    [{ error: { code: -32000, message: 'execution reverted' } }, 'without decimals(): it is no token.'],
    [{ error: { code: 3, message: 'VM Exception' } }, 'without decimals(): it is no token.'],
    [{ error: { code: -32015, message: 'VM execution error.', data: 'Bad instruction fe' } }, 'is no token.'],
    [{ error: { code: -32000, message: 'invalid opcode: INVALID' } }, 'is no token.'],
    [{ error: { code: -32000, message: 'invalid jump destination' } }, 'is no token.'],
    [{ error: { code: -32003, message: 'stack underflow (0 <=> 1)' } }, 'is no token.'],
  ])('that returns %j %s', async (response, sentence) => {
    decimals(response);
    await expect(check()).resolves.toContain(sentence);
    await expect(fresh.ping()).rejects.toThrow(sentence);
    await expect(fresh.read(requested([NOWHERE]))).rejects.toThrow(ChainUnavailable);
  });

  it.each([
    { error: { code: -32000, message: 'header not found' } },
    { error: { code: -32016, message: 'over rate limit' } },
    { error: { code: -32601, message: 'the method eth_call does not exist' } },
    { error: { code: -32000, message: 'invalid opcode: PUSH0' } },
  ])('is read again by the next check if it cannot be read: %j', async (response) => {
    decimals(response);
    await expect(check()).rejects.toThrow(ChainUnavailable);
    await expect(fresh.ping()).rejects.toThrow(ChainUnavailable);
    node.comeBack();
    await expect(fresh.ping()).resolves.toBeUndefined();
  });
});
