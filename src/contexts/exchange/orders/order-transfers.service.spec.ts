import { describe, expect, it } from '@jest/globals';
import {
  deposit,
  facts,
  created,
  received,
  stateAfter,
} from '../../../../test/support/exchange/order-fixtures.js';
import { ChainUnavailable } from '../../../platform/chain/values.js';
import type { ChainObservation, ChainReader } from '../../payouts/payouts.contract.js';
import { OrderTransfers } from './order-transfers.service.js';
import { chainConfig } from '../../../platform/config/config.js';

const USDC = `0x${'cc'.repeat(20)}`;
const [PAYER, STRANGER] = [`0x${'11'.repeat(20)}`, `0x${'22'.repeat(20)}`];
const hash = (digit: string): string => `0x${digit.repeat(64)}`;

type Receipt = NonNullable<ReturnType<ChainObservation['receipts']['get']>>;
const transfer = (from: string, to: string, minor: number, logIndex = 0, token = USDC) => ({
  from,
  to: to.toLowerCase(),
  amountMinor: BigInt(minor),
  logIndex,
  token,
});
const receipt = (transfers: Receipt['transfers'], over: Partial<Receipt> = {}): Receipt => ({
  succeeded: true,
  blockNumber: 90,
  blockHash: hash('b'),
  transfers,
  ...over,
});
const block = (number: number) => ({ number, hash: hash('b'), timestamp: 2_000_000_000 + number });

/** A node with blocks up to 100, final up to 90. */
const honest: ReadonlyMap<string, Receipt | null> = new Map([
  [hash('a'), receipt([transfer(PAYER, facts.deposit_address, 100_000_000)])],
  [hash('1'), receipt([transfer(STRANGER, PAYER, 40_000_000)])],
  [hash('2'), receipt([], { succeeded: false })],
  [hash('3'), receipt([transfer(PAYER, STRANGER, 40_000_000)])],
  [hash('4'), receipt([transfer(STRANGER, PAYER, 40_000_000, 0, `0x${'dd'.repeat(20)}`)])],
  [hash('5'), receipt([transfer(STRANGER, PAYER, 40_000_000)], { blockNumber: 91 })],
  [
    hash('6'),
    receipt([
      transfer(STRANGER, STRANGER, 40_000_000),
      transfer(STRANGER, PAYER, 40_000_000, 1),
      transfer(STRANGER, PAYER, 39_000_000, 2),
      transfer(STRANGER, PAYER, 40_000_000, 3),
    ]),
  ],
  [hash('9'), null],
  [hash('e'), receipt([transfer(STRANGER, PAYER, 40_000_000)], { partial: true })],
]);

type Chain = Pick<ChainReader, 'confirm'>;
const unavailable: Chain = { confirm: () => Promise.reject(new ChainUnavailable('no node is configured')) };
const chainOf = (nodes: readonly (typeof honest)[], finals: readonly number[] = []): Chain => ({
  confirm: async (requested) =>
    nodes.map((node, place) => ({
      head: block(100),
      final: block(finals[place] ?? 90),
      node: 'node.example',
      refusals: [],
      receipts: new Map(
        requested.flatMap((each) => (node.has(each.hash) ? [[each.hash, node.get(each.hash)!]] : [])),
      ),
    })),
});

const nodeSettings = {
  ...chainConfig({}),
  chainId: 31337,
  chainRpcUrl: 'http://127.0.0.1:1',
  usdcAddress: USDC,
  chainQuorum: 1,
};

describe('the verification of a refund transfer', () => {
  const order = stateAfter(created, received({ ...deposit('a', '100'), transaction_hash: 'a'.repeat(64) }));

  const check = (
    transaction_hash: string,
    {
      amount = '40',
      recipient = null as string | null,
      nodes = [honest],
      config = {},
      finals = [] as readonly number[],
    } = {},
  ) => {
    const settings = { ...nodeSettings, chainQuorum: Math.min(2, nodes.length), ...config };
    const transfers = new OrderTransfers(settings, chainOf(nodes, finals));
    return transfers.checkRefund(order, { amount, transaction_hash, recipient });
  };

  it('accepts the right amount to an address that paid the order or to the named recipient', async () => {
    expect(await check(hash('1'))).toEqual({ unchecked: null, logIndexes: [0] });
    const recipient = STRANGER.toUpperCase().replace('0X', '0x');
    expect(await check(hash('3'), { recipient })).toEqual({ unchecked: null, logIndexes: [0] });
  });

  it('fails as unavailable while the nodes disagree on who paid the order', async () => {
    const other = new Map(honest);
    other.delete(hash('a'));
    await expect(check(hash('1'), { nodes: [honest, other] })).rejects.toMatchObject({ code: 'unavailable' });
    const recipient = PAYER;
    expect(await check(hash('1'), { nodes: [honest, other], recipient })).toMatchObject({ logIndexes: [0] });
  });

  it('finds every matching transfer of the transaction', async () => {
    expect(await check(hash('6'))).toEqual({ unchecked: null, logIndexes: [1, 3] });
  });

  it.each<[string, string, string, string | null, RegExp]>([
    ['another amount', hash('1'), '39', null, /holds no transfer of 39 USDC on Ethereum/],
    ['another recipient', hash('3'), '40', null, /to an address that paid the order/],
    ['another recipient than the named one', hash('1'), '40', STRANGER, /to 0x22/],
    ['another token', hash('4'), '40', null, /holds no transfer/],
    ['a transaction that failed', hash('2'), '40', null, /no such transaction, or it failed/],
    ['a transaction that does not exist', hash('9'), '40', null, /no such transaction, or it failed/],
    ['a receipt that is too large for the node', hash('e'), '40', null, /too large for the node/],
    ['an amount with 7 decimals', hash('1'), '40.0000001', null, /at most 6 decimals/],
  ])('refuses %s', async (_, transaction, amount, recipient, message) => {
    await expect(check(transaction, { amount, recipient })).rejects.toThrow(message);
  });

  it('fails as unavailable until the block is final', async () => {
    const message = expect.stringContaining('not final yet');
    await expect(check(hash('5'))).rejects.toMatchObject({ code: 'unavailable', message });
  });

  it.each<[string, readonly [string, Receipt | null | undefined]]>([
    ['names another block', [hash('1'), { ...honest.get(hash('1'))!, blockHash: hash('c') }]],
    ['names another transfer', [hash('1'), receipt([transfer(STRANGER, PAYER, 39_000_000)])]],
    ['has no such transaction', [hash('1'), null]],
    ['sends no usable response', [hash('1'), undefined]],
  ])('fails while one of two nodes %s', async (_, [of, lie]) => {
    const other = new Map(honest);
    if (lie === undefined) other.delete(of);
    else other.set(of, lie);
    const refused = { code: 'unavailable', message: expect.stringContaining('do not agree') };
    await expect(check(of, { nodes: [honest, other] })).rejects.toMatchObject(refused);
    await expect(check(of, { nodes: [other, honest] })).rejects.toMatchObject(refused);
    // Two of three nodes are a quorum of CHAIN_QUORUM 2; two and two are two quorums.
    expect(await check(of, { nodes: [honest, other, honest] })).toMatchObject({ logIndexes: [0] });
    expect(await check(of, { nodes: [other, honest, honest] })).toMatchObject({ logIndexes: [0] });
    if (lie !== undefined)
      await expect(check(of, { nodes: [honest, other, honest, other] })).rejects.toThrow('do not agree');
  });

  it('needs a final block on two of three nodes with CHAIN_QUORUM 2', async () => {
    const nodes = [honest, honest, honest];
    expect(await check(hash('1'), { nodes, finals: [90, 80, 90] })).toMatchObject({ logIndexes: [0] });
    await expect(check(hash('1'), { nodes, finals: [90, 80, 80] })).rejects.toThrow('not final yet');
  });

  it('accepts two nodes that format the same receipt differently', async () => {
    const source = { sha256: 'of another text', text: null };
    const other = new Map([...honest].map(([of, each]) => [of, each && { ...each, source }]));
    expect(await check(hash('1'), { nodes: [honest, other] })).toMatchObject({ logIndexes: [0] });
  });

  it('reports a transfer as unchecked if no node of its chain is configured', async () => {
    for (const config of [{ chainId: 10 }, { chainRpcUrl: null }, { usdcAddress: null }])
      expect(await check(hash('9'), { config })).toEqual({
        unchecked: expect.stringContaining('was not checked'),
        logIndexes: [],
      });
  });

  it('fails as unavailable if too few nodes respond', async () => {
    const refund = { amount: '40', transaction_hash: hash('1'), recipient: null };
    const checked = new OrderTransfers(nodeSettings, unavailable).checkRefund(order, refund);
    await expect(checked).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('the recheck of the deposits of an order', () => {
  const of = (...deposits: readonly ReturnType<typeof deposit>[]) =>
    stateAfter(created, ...deposits.map((each) => received(each)));
  const paid = (digit: string, amount: string, id = digit) => ({
    ...deposit(id, amount),
    transaction_hash: digit.repeat(64),
  });
  const to = facts.deposit_address;
  const node: ReadonlyMap<string, Receipt | null> = new Map([
    ...honest,
    [hash('7'), receipt([transfer(PAYER, to, 5_000_000), transfer(PAYER, to, 5_000_000, 1)])],
    [hash('8'), receipt([transfer(PAYER, to, 5_000_000)], { blockNumber: 91 })],
  ]);
  const check = (
    state: ReturnType<typeof of>,
    { nodes = [node], finals = [] as readonly number[], chainId = 31337 } = {},
  ) => {
    const settings = { ...nodeSettings, chainId, chainQuorum: Math.min(2, nodes.length) };
    return new OrderTransfers(settings, chainOf(nodes, finals)).checkDeposits(state);
  };
  const found = async (...args: Parameters<typeof check>) =>
    (await check(...args))?.map((each) => each.found);

  it('reports deposits as on the chain if each has a transfer of its amount to the address of the order', async () => {
    const state = of(paid('a', '100'), paid('7', '5', '7a'), paid('7', '5', '7b'));
    expect(await found(state)).toEqual(['on_chain', 'on_chain', 'on_chain']);
  });

  it('reports deposits as missing if the transaction is in no block, failed, or transfers another amount', async () => {
    const state = of(paid('9', '5'), paid('2', '5'), paid('a', '99.999999'));
    expect(await found(state)).toEqual(['missing', 'missing', 'missing']);
  });

  it('reports one of two deposits as missing if both were recorded for one transfer', async () => {
    expect(await found(of(paid('a', '100', 'a1'), paid('a', '100', 'a2')))).toEqual(['on_chain', 'missing']);
  });

  it('reports a deposit as unknown while the newest final block of a node is older than the deposit', async () => {
    const later = { ...paid('9', '5'), deposited_at: '2100-01-01T00:00:00.000Z' };
    expect(await found(of(later))).toEqual(['unknown']);
  });

  it('reports a deposit as unknown if its block is not final, no node responds, or two nodes disagree', async () => {
    expect(await found(of(paid('8', '5')))).toEqual(['unknown']);
    expect(await found(of(paid('c', '5')))).toEqual(['unknown']);
    const other = new Map([...node, [hash('a'), null]]);
    expect(await found(of(paid('a', '100')), { nodes: [node, other] })).toEqual(['unknown']);
    const checked = await new OrderTransfers(nodeSettings, unavailable).checkDeposits(of(paid('a', '100')));
    expect(checked).toMatchObject([{ deposit_id: 'a', found: 'unknown' }]);
  });

  it('is decided by two of three nodes with CHAIN_QUORUM 2, regardless of the third', async () => {
    const other = new Map([...node, [hash('a'), null], [hash('9'), node.get(hash('a'))!]]);
    const deposited_at = new Date(2_000_000_085_000).toISOString();
    const state = of(paid('a', '100'), { ...paid('9', '5'), deposited_at });
    const settled = ['on_chain', 'missing'];
    const unknown = ['unknown', 'unknown'];
    expect(await found(state, { nodes: [node, other, node], finals: [90, 90, 90] })).toEqual(settled);
    const nodes = [node, node, node];
    expect(await found(state, { nodes, finals: [90, 80, 90] })).toEqual(settled);
    expect(await found(state, { nodes, finals: [90, 80, 80] })).toEqual(unknown);
    expect(await found(state, { nodes: [node, other] })).toEqual(unknown);
  });

  it('returns null for a chain without a configured node', async () => {
    expect(await check(of(paid('a', '100')), { chainId: 10 })).toBeNull();
  });
});
