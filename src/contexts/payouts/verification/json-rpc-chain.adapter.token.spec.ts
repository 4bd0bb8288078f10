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

  it('is read once', async () => {
    await expect(check()).resolves.toBeNull();
    const before = node.calls.filter((method) => method === 'eth_getCode').length;
    await fresh.read(requested([NOWHERE]));
    await fresh.ping();
    expect(node.calls.filter((method) => method === 'eth_getCode')).toHaveLength(before);
  });

  it.each(['0x', '0x0', '0x00'])('is refused as no contract if its code is %s', async (code) => {
    const usdcAddress = chain.newAddress();
    node.tamper(({ method }) => (method === 'eth_getCode' ? { result: code } : undefined));
    await expect(check({ usdcAddress })).resolves.toBe(
      `USDC_ADDRESS (${usdcAddress}) is no contract on chain 31337.`,
    );
  });

  it.each([
    [{ result: word(18) }, 'is USDC with 18 decimals: USDC has 6.'],
    [{ result: word(2) }, 'is USDC with 2 decimals: USDC has 6.'],
    [{ result: '0x' }, 'is a contract (USDC) without decimals(): it is no token.'],
    [{ error: { code: -32000, message: 'execution reverted' } }, 'without decimals(): it is no token.'],
    [{ error: { code: 3, message: 'VM Exception' } }, 'without decimals(): it is no token.'],
    [{ error: { code: -32015, message: 'VM execution error.', data: 'Bad instruction fe' } }, 'is no token.'],
    [{ error: { code: -32000, message: 'invalid opcode: INVALID' } }, 'is no token.'],
    [{ error: { code: -32000, message: 'invalid jump destination' } }, 'is no token.'],
    [{ error: { code: -32003, message: 'stack underflow (0 <=> 1)' } }, 'is no token.'],
  ])('is refused if the response to decimals() is %j: %s', async (response, sentence) => {
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
  ])('is unavailable if decimals() returns %j, and is read again by the next check', async (response) => {
    decimals(response);
    await expect(check()).rejects.toThrow(ChainUnavailable);
    await expect(fresh.ping()).rejects.toThrow(ChainUnavailable);
    node.comeBack();
    await expect(fresh.ping()).resolves.toBeUndefined();
  });
});

describe('a receipt', () => {
  const setup = ReadChain.forSuite();

  it.each<[string, readonly unknown[]]>([
    ['all equal', ['0x0', '0x0', '0x0']],
    ['partly equal', ['0x1', '0x0', '0x0']],
    ['null', [null, null, null]],
    ['absent', [undefined, undefined, undefined]],
    ['JSON numbers', [4, 5, 6]],
  ])('has its logs in the order of the response if their indexes are %s', async (_name, indexes) => {
    const { hash } = await setup.chain.transfer(setup.chain.newAddress(), '1');
    const honest = (await setup.chain.rpc('eth_getTransactionReceipt', [hash])) as { logs: object[] };
    const logs = indexes.map((logIndex, n) => ({
      ...honest.logs[0],
      logIndex,
      data: `0x${String(n + 1).padStart(64, '0')}`,
    }));
    setup.node.tamper(({ method }) =>
      method === 'eth_getTransactionReceipt' ? { result: { ...honest, logs } } : undefined,
    );
    const { transfers } = (await setup.read([hash])).receipts.get(hash)!;
    expect(transfers.map(({ amountMinor, logIndex }) => [Number(amountMinor), logIndex])).toEqual([
      [1, 0],
      [2, 1],
      [3, 2],
    ]);
  });

  it.each<[string, (honest: { logs: object[] }) => object, object]>([
    [
      'a status that is a JSON number',
      () => ({ status: 1 }),
      { succeeded: true, transfers: [{ logIndex: 0 }] },
    ],
    [
      'a log whose topics are null',
      ({ logs }) => ({ logs: [{ ...logs[0], topics: null }, ...logs] }),
      { transfers: [{ logIndex: 1 }] },
    ],
    [
      'logs that are null and an empty bloom filter',
      () => ({ logs: null, status: '0x0', logsBloom: `0x${'0'.repeat(512)}` }),
      { succeeded: false, transfers: [] },
    ],
  ])('is read with %s', async (_name, change, read) => {
    const { hash } = await setup.chain.transfer(setup.chain.newAddress(), '1');
    const honest = (await setup.chain.rpc('eth_getTransactionReceipt', [hash])) as { logs: object[] };
    setup.node.tamper(({ method }) =>
      method === 'eth_getTransactionReceipt' ? { result: { ...honest, ...change(honest) } } : undefined,
    );
    expect((await setup.read([hash])).receipts.get(hash)).toMatchObject(read);
  });

  it.each<[string, object]>([
    ...[null, true, '0x2', -1, 0.5].map((status): [string, object] => [`status ${status}`, { status }]),
    ['null logs that its bloom filter contradicts', { logs: null }],
    ['null logs and no bloom filter', { logs: null, logsBloom: undefined }],
  ])('is omitted if it has %s', async (_name, change) => {
    const { hash } = await setup.chain.transfer(setup.chain.newAddress(), '1');
    const honest = (await setup.chain.rpc('eth_getTransactionReceipt', [hash])) as object;
    setup.node.tamper(({ method }) =>
      method === 'eth_getTransactionReceipt' ? { result: { ...honest, ...change } } : undefined,
    );
    expect((await setup.read([hash])).receipts.has(hash)).toBe(false);
  });
});
