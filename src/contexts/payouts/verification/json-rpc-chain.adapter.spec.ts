import { describe, expect, it } from '@jest/globals';
import { Transaction } from 'ethers';
import {
  NOWHERE,
  ReadChain,
  refusing,
  requested,
  type RawReceipt,
} from '../../../../test/support/payouts/read-chain.js';
import { ChainUnavailable } from './chain.ports.js';

describe('the chain behind a JSON-RPC node', () => {
  const setup = ReadChain.forSuite();
  const { read } = setup;
  const height = async (): Promise<number> => Number(await setup.chain.rpc('eth_blockNumber'));

  it('returns a transfer with its block, token, recipient, amount and position', async () => {
    const to = setup.chain.newAddress();
    const { hash, blockNumber, blockHash } = await setup.chain.transfer(to, '12.345678');
    const { head, receipts } = await read([hash]);
    expect(head.number).toBe(await height());
    expect(receipts.get(hash)).toEqual({
      succeeded: true,
      blockNumber,
      blockHash,
      transfers: [
        {
          token: setup.chain.usdcAddress.toLowerCase(),
          from: (await setup.chain.funded.getAddress()).toLowerCase(),
          to: to.toLowerCase(),
          amountMinor: 12_345_678n,
          logIndex: 0,
        },
      ],
    });
  });

  it('returns a reverted transaction', async () => {
    const hash = await setup.chain.revertedTransfer(setup.chain.newAddress(), '1');
    expect((await read([hash])).receipts.get(hash)).toMatchObject({ succeeded: false, transfers: [] });
  });

  it('returns null for unknown and unmined transactions and for texts that are no hash', async () => {
    await setup.chain.rpc('evm_setAutomine', [false]);
    try {
      const waiting = await setup.chain.funded.sendTransaction({ to: setup.chain.newAddress(), value: 1n });
      const hashes = [waiting.hash, NOWHERE, 'a solana signature', '0x12'];
      const { receipts } = await read(hashes);
      expect(hashes.map((hash) => receipts.get(hash))).toEqual([null, null, null, null]);
    } finally {
      await setup.chain.rpc('evm_setAutomine', [true]);
      await setup.chain.mine();
    }
  });

  it('returns hundreds of receipts in few requests', async () => {
    const { hash } = await setup.chain.transfer(setup.chain.newAddress(), '1');
    const others = Array.from({ length: 450 }, (_, n) => `0x${n.toString(16).padStart(64, '0')}`);
    const before = setup.node.requests;
    const { receipts } = await read([...others, hash]);
    expect(receipts.size).toBe(451);
    expect([...receipts.values()].filter((receipt) => receipt !== null)).toHaveLength(1);
    expect(setup.node.requests - before).toBeLessThanOrEqual(8);
  });

  it('numbers a log within its transaction, not within the block', async () => {
    await setup.chain.rpc('evm_setAutomine', [false]);
    const transfer = { to: setup.chain.usdcAddress, gasLimit: 100_000n };
    const data = (to: string): string =>
      `0xa9059cbb${to.slice(2).toLowerCase().padStart(64, '0')}${'1'.padStart(64, '0')}`;
    const sent = [];
    for (let n = 0; n < 3; n += 1) {
      sent.push(
        await setup.chain.funded.sendTransaction({ ...transfer, data: data(setup.chain.newAddress()) }),
      );
    }
    await setup.chain.mine();
    await setup.chain.rpc('evm_setAutomine', [true]);
    const raw = (await setup.chain.rpc('eth_getTransactionReceipt', [sent[2]!.hash])) as {
      logs: { logIndex: string }[];
    };
    expect(Number(raw.logs[0]!.logIndex)).toBe(2);
    const { receipts } = await read(sent.map(({ hash }) => hash));
    expect(sent.map(({ hash }) => receipts.get(hash)?.transfers[0]?.logIndex)).toEqual([0, 0, 0]);
  });

  it('follows a reorganisation that drops a transaction and includes it again', async () => {
    const { hash, blockNumber } = await setup.chain.transfer(setup.chain.newAddress(), '1');
    const raw = (await setup.chain.rpc('eth_getRawTransactionByHash', [hash])) as string;
    expect(Transaction.from(raw).hash).toBe(hash);
    await setup.chain.reorg(1);
    expect((await read([hash])).receipts.get(hash)).toBeNull();
    await setup.chain.mine(2);
    await setup.chain.rpc('anvil_reorg', [2, [[raw, 1]]]);
    const again = (await read([hash])).receipts.get(hash);
    expect(again?.succeeded).toBe(true);
    expect(again!.blockNumber).toBeGreaterThan(blockNumber);
    setup.chain.funded.reset();
  });

  it('is unavailable while the node is unavailable', async () => {
    setup.node.goDown();
    const failure = await read([NOWHERE]).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ChainUnavailable);
    expect(String(failure)).not.toContain(new URL(setup.node.url).port);
    await expect(setup.reader.ping()).rejects.toThrow(ChainUnavailable);
    setup.node.comeBack();
    await expect(setup.reader.ping()).resolves.toBeUndefined();
    expect((await read([NOWHERE])).receipts.get(NOWHERE)).toBeNull();
  });

  it.each([
    ['is on another chain', 'eth_chainId', '0x1', 'is on chain 1'],
    ['returns no block', 'eth_getBlockByNumber', null, 'no newest block'],
    ['returns an invalid block', 'eth_getBlockByNumber', { number: '' }, 'no newest block'],
    [
      'returns a block number that is too large',
      'eth_getBlockByNumber',
      { number: '0xffffffffffffffffff', hash: NOWHERE, timestamp: '0x1' },
      'no newest block',
    ],
  ])('is unavailable if the node %s', async (_name, method, result, message) => {
    setup.node.tamper((call) => (call.method === method ? { result } : undefined));
    await expect(read([NOWHERE])).rejects.toThrow(message);
    await expect(read([NOWHERE])).rejects.toThrow(ChainUnavailable);
  });

  it('is not ready while its newest block is old', async () => {
    await setup.chain.mine();
    setup.node.tamper(({ method }, { result }) =>
      method === 'eth_getBlockByNumber' ? { result: { ...(result as object), timestamp: '0x1' } } : undefined,
    );
    const young = setup.over({ chainRpcUrl: setup.node.url, chainMaxHeadAgeSeconds: 600 });
    await expect(young.ping()).rejects.toThrow(/newest block of the node is \d+ s old/);
    young.onApplicationShutdown();
  });

  it.each(['', 'no JSON', '{}', '[]', '[null]', 'null', '[1,2]', '{"id":1}', '<html>502</html>'])(
    'is unavailable if the node responds with %j to everything',
    async (body) => {
      setup.node.respondToAll(body);
      await expect(read([NOWHERE])).rejects.toThrow(ChainUnavailable);
      await expect(setup.reader.ping()).rejects.toThrow(ChainUnavailable);
    },
  );

  it('omits only the hash that the node refuses', async () => {
    const { hash } = await setup.chain.transfer(setup.chain.newAddress(), '1');
    setup.node.tamper(refusing(NOWHERE));
    const { receipts } = await read([NOWHERE, hash]);
    expect(receipts.has(NOWHERE)).toBe(false);
    expect(receipts.get(hash)?.succeeded).toBe(true);
  });

  const noBloom = { logsBloom: `0x${'0'.repeat(512)}` };
  it.each<[string, (receipt: RawReceipt) => unknown]>([
    ['is of another transaction', (receipt) => ({ ...receipt, transactionHash: NOWHERE })],
    ['has no hash', ({ transactionHash: _, ...receipt }) => receipt],
    ['has no status', ({ status: _, ...receipt }) => receipt],
    ...[null, true, '0x2', -1, 0.5].map((status): [string, (receipt: RawReceipt) => unknown] => [
      `has the status ${status}`,
      (receipt) => ({ ...receipt, status }),
    ]),
    ['has no block hash', ({ blockHash: _, ...receipt }) => receipt],
    ['has an unknown block number', (receipt) => ({ ...receipt, blockNumber: 'latest' })],
    ['has no logs', ({ logs: _, ...receipt }) => receipt],
    ['has invalid logs', (receipt) => ({ ...receipt, logs: [null] })],
    ['has null logs that its bloom filter contradicts', (receipt) => ({ ...receipt, logs: null })],
    ['has null logs and no bloom filter', (receipt) => ({ ...receipt, logs: null, logsBloom: undefined })],
    ['is text', () => 'yes'],
    ['is a list', () => []],
    ['is true', () => true],
  ])('has no result for a receipt that %s', async (_name, change) => {
    const hash = await setup.withReceipt(change);
    expect((await read([hash])).receipts.has(hash)).toBe(false);
  });

  /** The amounts of three logs with these numbers, by their places. */
  const placesOf = async (indexes: readonly unknown[]): Promise<unknown> => {
    const hash = await setup.withReceipt((receipt) => ({
      ...receipt,
      logs: indexes.map((logIndex, n) => ({
        ...receipt.logs[0],
        logIndex,
        data: `0x${String(n + 1).padStart(64, '0')}`,
      })),
    }));
    const { transfers } = (await read([hash])).receipts.get(hash)!;
    expect(transfers.map(({ logIndex }) => logIndex)).toEqual([0, 1, 2]);
    return transfers.map(({ amountMinor }) => Number(amountMinor));
  };

  it.each<[string, readonly unknown[], readonly number[]]>([
    ['unordered', ['0x10', '0x9', '0xa'], [2, 3, 1]],
    ['all equal', ['0x0', '0x0', '0x0'], [1, 2, 3]],
    ['partly equal', ['0x1', '0x0', '0x0'], [1, 2, 3]],
    ['null', [null, null, null], [1, 2, 3]],
    ['absent', [undefined, undefined, undefined], [1, 2, 3]],
    ['JSON numbers', [4, 5, 6], [1, 2, 3]],
  ])('finds the positions of logs whose indexes are %s', async (_name, indexes, amounts) => {
    expect(await placesOf(indexes)).toEqual(amounts);
  });

  const shapesOf = (log: Record<string, unknown>, topics: readonly string[]): readonly object[] => [
    { ...log, topics: topics.slice(0, 2) },
    { ...log, topics: [...topics, topics[1]] },
    { ...log, topics: [NOWHERE, ...topics.slice(1)] },
    { ...log, topics: [topics[0], topics[1], '0x12'] },
    { ...log, topics: null },
    { ...log, data: '0x' },
    { ...log, data: `${String(log['data'])}00` },
    { ...log, removed: true },
  ];
  it.each<[string, (receipt: RawReceipt) => object, object | null]>([
    ['without a block as missing', () => ({ blockNumber: null }), null],
    ['with a status that is a JSON number', () => ({ status: 1 }), { succeeded: true }],
    [
      'with null logs and an empty bloom filter',
      () => ({ ...noBloom, logs: null, status: '0x0' }),
      { succeeded: false, transfers: [] },
    ],
    [
      'with logs that are no transfers',
      ({ logs: [log] }) => {
        const shapes = shapesOf(log!, log!['topics'] as string[]);
        return { logs: shapes.map((shape, place) => ({ ...shape, logIndex: `0x${place}` })) };
      },
      { transfers: [] },
    ],
  ])('reads a receipt %s', async (_name, change, found) => {
    const hash = await setup.withReceipt((receipt) => ({ ...receipt, ...change(receipt) }));
    const receipt = (await read([hash])).receipts.get(hash);
    if (found === null) expect(receipt).toBeNull();
    else expect(receipt).toMatchObject(found);
  });

  it.each<[string, object]>([
    ['has no usable response to eth_getTransactionByHash', { result: 'yes' }],
    ['refuses eth_getTransactionByHash', { error: { code: -32000, message: 'try again' } }],
  ])('does not report a transaction as missing if the node %s', async (_name, second) => {
    const absent = `0x${'cd'.repeat(32)}`;
    expect((await setup.reader.confirm(requested([absent])))[0]!.receipts.get(absent)).toBeNull();
    await setup.chain.mine();
    setup.node.tamper(({ method }) =>
      method === 'eth_getTransactionByHash' ? (second as { result: unknown }) : undefined,
    );
    expect((await setup.reader.confirm(requested([absent])))[0]!.receipts.has(absent)).toBe(false);
  });

  it('is read from CHAIN_QUORUM nodes, whichever of the configured nodes respond', async () => {
    const { hash } = await setup.chain.transfer(setup.chain.newAddress(), '1');
    const unavailable = 'http://127.0.0.1:9';
    for (const urls of [
      [unavailable, setup.node.url, setup.chain.rpcUrl],
      [setup.node.url, unavailable, setup.chain.rpcUrl],
    ]) {
      const three = setup.over({ chainRpcUrl: urls.join(','), chainQuorum: 2 });
      const observations = await three.confirm(requested([hash]));
      expect(observations.map(({ receipts }) => receipts.get(hash)?.succeeded)).toEqual([true, true]);
      await three.ping();
      three.onApplicationShutdown();
    }
    const reader = setup.over({ chainRpcUrl: `${unavailable},${setup.node.url}`, chainQuorum: 2 });
    await expect(reader.confirm(requested([hash]))).rejects.toBeInstanceOf(ChainUnavailable);
    reader.onApplicationShutdown();
  });
});
