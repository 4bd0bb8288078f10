import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { eventually } from '../../../../test/support/eventually.js';
import {
  isReady,
  NOWHERE,
  ReadChain,
  refusing,
  requested,
} from '../../../../test/support/payouts/read-chain.js';
import { TestNode, type RpcCall } from '../../../../test/support/payouts/test-node.js';
import { ChainUnavailable, type ChainObservation } from './chain.ports.js';
import type { JsonRpcChain } from './json-rpc-chain.adapter.js';

describe('the chain behind a faulty JSON-RPC node', () => {
  const setup = ReadChain.forSuite();
  const { read } = setup;

  it('is available, but returns no receipt, if the node refuses every transaction', async () => {
    const absent = `0x${'cd'.repeat(32)}`;
    setup.node.tamper(refusing(absent));
    const { receipts, refusals } = await read([absent]);
    expect([receipts.has(absent), refusals]).toEqual([false, ['error -32008']]);
  });

  it('omits only the hashes that make the node close a connection, not the rest of the batch', async () => {
    const { hash } = await setup.chain.transfer(setup.chain.newAddress(), '1');
    const bad = Array.from({ length: 3 }, (_, n) => `0xd${String(n).padStart(63, '0')}`);
    setup.node.cutFor(({ params }) => bad.includes(String(params[0])));
    const others = Array.from({ length: 190 }, (_, n) => `0x1${n.toString(16).padStart(63, '0')}`);
    const { receipts } = await read([
      ...others.slice(0, 50),
      bad[0]!,
      hash,
      ...others.slice(50),
      bad[1]!,
      bad[2]!,
    ]);
    expect(receipts.get(hash)?.succeeded).toBe(true);
    expect(receipts.size).toBe(191);
    expect(bad.some((each) => receipts.has(each))).toBe(false);
  });

  it.each([
    [401, 'does not accept the credentials'],
    [403, 'does not accept the credentials'],
    [429, 'too many requests'],
    [302, 'HTTP 302'],
    [502, 'HTTP 502'],
  ])('reports the error if the node returns the HTTP status %i', async (status, message) => {
    setup.node.respondToAll('{}', status, { location: setup.node.url });
    await expect(read([NOWHERE])).rejects.toThrow(message);
    await expect(setup.reader.ping()).rejects.toThrow(ChainUnavailable);
  });

  it.each([401, 429])(
    'is unavailable, and returns no partial result, if the node returns HTTP %i for every receipt',
    async (status) => {
      setup.node.refuseFor(({ method }) => method === 'eth_getTransactionReceipt', status);
      await expect(read([`0x${'c1'.repeat(32)}`])).rejects.toThrow(ChainUnavailable);
    },
  );

  it('stops reading a response at the size limit, and refuses a compressed response', async () => {
    setup.node.respondToAll(' '.repeat(64 * 1_048_576));
    await expect(read([NOWHERE])).rejects.toThrow(/more than \d+ bytes/);
    setup.node.respondToAll('\u001f\u008b', 200, { 'content-encoding': 'gzip' });
    await expect(read([NOWHERE])).rejects.toThrow('no JSON');
  });

  it('repeats a call separately if a batch has two responses to that call', async () => {
    const { hash } = await setup.chain.transfer(setup.chain.newAddress(), '1');
    const absent = { jsonrpc: '2.0', id: 0, result: null };
    setup.node.rewrite((responses) => (responses.length === 2 ? [...responses, absent] : responses));
    const before = setup.node.calls.length;
    expect((await read([hash, NOWHERE])).receipts.get(hash)?.succeeded).toBe(true);
    expect(
      setup.node.calls.slice(before).filter((method) => method === 'eth_getTransactionReceipt'),
    ).toHaveLength(3);
  });

  it('accepts the responses of a batch in any order', async () => {
    const { hash } = await setup.chain.transfer(setup.chain.newAddress(), '1');
    setup.node.rewrite((responses) => [...responses].reverse());
    expect((await read([NOWHERE, hash])).receipts.get(hash)?.succeeded).toBe(true);
  });

  describe('with a transaction whose receipt is too large', () => {
    const PADDING = { padding: 'x'.repeat(9_000_000) };
    const large =
      (hash: string) =>
      ({ method, params }: RpcCall, { result }: { readonly result?: unknown }) =>
        method === 'eth_getTransactionReceipt' && params[0] === hash
          ? { result: { ...(result as object), ...PADDING } }
          : undefined;

    it('reads the rest of the batch, then the large receipt separately, and never in a batch again', async () => {
      const to = setup.chain.newAddress();
      const { hash, blockNumber } = await setup.chain.transfer(to, '3');
      setup.node.tamper(large(hash));
      const others = Array.from({ length: 99 }, (_, n) => `0x2${n.toString(16).padStart(63, '0')}`);
      const one = { hash, wallets: [setup.chain.newAddress(), to] };
      const ask = (): Promise<ChainObservation> => setup.reader.read([...requested(others), one]);
      expect([...(await ask()).receipts.keys()]).toEqual(others);
      const { receipts } = await setup.reader.read([one], { separately: true });
      expect(receipts.get(hash)).toMatchObject({
        partial: true,
        succeeded: true,
        blockNumber,
        transfers: [{ to: to.toLowerCase(), amountMinor: 3_000_000n }],
      });
      await setup.chain.mine();
      const before = setup.node.calls.length;
      await ask();
      const again = setup.node.calls.slice(before).filter((method) => method === 'eth_getTransactionReceipt');
      expect(again).toHaveLength(99);
    });

    it('reads the whole receipt for an outcome only if it has a transfer to a requested wallet', async () => {
      const to = setup.chain.newAddress();
      const { hash } = await setup.chain.transfer(to, '3');
      setup.node.tamper(large(hash));
      const [ours] = await setup.reader.confirm([{ hash, wallets: [to] }], { separately: true });
      expect(ours!.receipts.get(hash)).toMatchObject({ transfers: [{ logIndex: 0 }] });
      expect(ours!.receipts.get(hash)?.partial).toBeUndefined();
      // Of nine megabytes only the hash is stored.
      expect(ours!.receipts.get(hash)?.source).toEqual({
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        text: null,
      });
      const [others] = await setup.reader.confirm([{ hash, wallets: [setup.chain.newAddress()] }], {
        separately: true,
      });
      expect(others!.receipts.get(hash)).toMatchObject({ partial: true, transfers: [] });
    });
  });

  describe('before an outcome', () => {
    const confirm = async (hash: string): Promise<ChainObservation> =>
      (await setup.reader.confirm(requested([hash])))[0]!;

    it('retains the receipt byte for byte with the time of its block', async () => {
      const { hash, blockNumber } = await setup.chain.transfer(setup.chain.newAddress(), '1');
      const block = (await setup.chain.rpc('eth_getBlockByNumber', [
        `0x${blockNumber.toString(16)}`,
        false,
      ])) as {
        timestamp: string;
      };
      const honest = JSON.stringify(await setup.chain.rpc('eth_getTransactionReceipt', [hash]));
      // A parser would change spaces, numbers and a duplicate key.
      const odd = honest.replace('{', '{ "result":[{"x":"]"}],\t"n":1.00, "status" : "0x0","é\\u0041":{ },');
      setup.node.replaceText(honest, odd);
      const { receipts } = await confirm(hash);
      expect(receipts.get(hash)).toMatchObject({
        succeeded: true,
        blockTime: Number(block.timestamp),
        source: { text: odd, sha256: createHash('sha256').update(odd).digest('hex') },
      });
      setup.node.rewrite((responses) => [7, null, [], ...responses.toReversed()] as object[]);
      const [{ receipts: batch }] = (await setup.reader.confirm(requested([NOWHERE, hash]))) as [
        ChainObservation,
      ];
      expect(batch.get(hash)?.source?.text).toBe(odd);
    });

    it('omits a receipt of a block that is not canonical', async () => {
      const hash = await setup.withReceipt((honest) => ({ ...honest, blockHash: NOWHERE }));
      expect((await read([hash])).receipts.get(hash)?.succeeded).toBe(true);
      expect((await confirm(hash)).receipts.has(hash)).toBe(false);
    });

    it('omits a transaction that one RPC method finds and another does not', async () => {
      const { hash } = await setup.chain.transfer(setup.chain.newAddress(), '1');
      setup.node.tamper(({ method }) =>
        method === 'eth_getTransactionReceipt' ? { result: null } : undefined,
      );
      expect((await read([hash])).receipts.get(hash)).toBeNull();
      expect((await confirm(hash)).receipts.has(hash)).toBe(false);
      expect((await confirm(NOWHERE)).receipts.get(NOWHERE)).toBeNull();
    });

    it('is unavailable if the newest block is replaced during the check', async () => {
      const { hash } = await setup.chain.transfer(setup.chain.newAddress(), '1');
      const other = { number: '0x1', hash: NOWHERE, timestamp: '0x1' };
      setup.node.tamper(({ method, params }, { result }) =>
        method === 'eth_getBlockByNumber' && params[0] === 'latest'
          ? { result: { ...(result as object), hash: other.hash } }
          : undefined,
      );
      await expect(confirm(hash)).rejects.toThrow('reorganised');
    });
  });

  describe('with several nodes', () => {
    let second: TestNode;
    beforeAll(async () => {
      second = await TestNode.start(setup.chain.rpcUrl);
    });
    afterEach(() => second.comeBack());
    afterAll(() => second.stop());
    const several = (over: object = {}): JsonRpcChain =>
      setup.over({ chainRpcUrl: `${setup.node.url}, ${second.url}`, ...over });

    it('switches to the next node after a failure, and stays there until that node fails', async () => {
      const reader = several();
      setup.node.respondToAll('{}', 429);
      expect((await reader.read(requested([NOWHERE]))).receipts.get(NOWHERE)).toBeNull();
      setup.node.comeBack();
      const before = setup.node.requests;
      await reader.read(requested([NOWHERE]));
      expect(setup.node.requests).toBe(before);
      second.goDown();
      await eventually(() => isReady(reader));
      setup.node.goDown();
      await expect(reader.ping()).rejects.toThrow(ChainUnavailable);
      reader.onApplicationShutdown();
    });

    it('skips a node whose newest block is older than the maximum age', async () => {
      await setup.chain.mine();
      const reader = several({ chainMaxHeadAgeSeconds: 600 });
      setup.node.tamper(({ method }, { result }) =>
        method === 'eth_getBlockByNumber'
          ? { result: { ...(result as object), timestamp: '0x1' } }
          : undefined,
      );
      const before = second.requests;
      await reader.read(requested([NOWHERE]));
      expect(second.requests).toBeGreaterThan(before);
      second.goDown();
      await expect(reader.read(requested([NOWHERE]))).rejects.toThrow(
        /newest block of the node is \d+ s old|unavailable/,
      );
      reader.onApplicationShutdown();
    });
  });
});
