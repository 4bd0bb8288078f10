import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { deposit, facts, made, received, stateAfter } from '../../../../test/support/order-story.js';
import { TRANSFER_TOPIC } from '../../../platform/chain/values.js';
import { ChainRefundTransfers } from './refund-transfers.js';

const USDC = `0x${'cc'.repeat(20)}`;
const [PAYER, STRANGER] = [`0x${'11'.repeat(20)}`, `0x${'22'.repeat(20)}`];
const word = (hex: string): string => `0x${hex.replace('0x', '').padStart(64, '0')}`;
const transfer = (from: string, to: string, minor: number, address = USDC) => ({
  ...{ address, data: word(minor.toString(16)) },
  topics: [TRANSFER_TOPIC, word(from), word(to)],
});
const hash = (digit: string): string => `0x${digit.repeat(64)}`;

const RECEIPTS: Readonly<Record<string, object>> = {
  '0xa': { status: '0x1', logs: [transfer(PAYER, facts.deposit_address, 100_000_000)] },
  [hash('1')]: { status: '0x1', logs: [transfer(STRANGER, PAYER, 40_000_000)] },
  [hash('2')]: { status: '0x0', logs: [] },
  [hash('3')]: { status: '0x1', logs: [transfer(PAYER, STRANGER, 40_000_000)] },
  [hash('4')]: { status: '0x1', logs: [transfer(STRANGER, PAYER, 40_000_000, `0x${'dd'.repeat(20)}`)] },
};

describe('the transfer of a refund', () => {
  let node: Server;
  let url: string;
  const order = stateAfter(made, received(deposit('a', '100')));
  const checked: ChainRefundTransfers[] = [];

  beforeAll(async () => {
    node = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        const call = JSON.parse(body) as { id: number; params: [string] };
        response.end(JSON.stringify({ id: call.id, result: RECEIPTS[call.params[0]] ?? null }));
      });
    });
    await new Promise<void>((listening) => node.listen(0, '127.0.0.1', listening));
    url = `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await Promise.all(checked.map((each) => each.onApplicationShutdown()));
    await new Promise((closed) => node.close(closed));
  });

  const check = (transactionHash: string, amount = '40', recipient: string | null = null, config = {}) => {
    const transfers = new ChainRefundTransfers({
      ...{ chainId: 31337, chainRpcUrl: url, usdcAddress: USDC },
      ...config,
    });
    checked.push(transfers);
    return transfers.check(order, { amount, transactionHash, recipient });
  };

  it('is one of the amount to an address that paid the order, or to the named one', async () => {
    expect(await check(hash('1'))).toBeNull();
    expect(await check(hash('3'), '40', STRANGER.toUpperCase().replace('0X', '0x'))).toBeNull();
  });

  it.each<[string, string, string, string | null, RegExp]>([
    ['another amount', hash('1'), '39', null, /holds no transfer of 39 USDC on Ethereum/],
    ['another recipient', hash('3'), '40', null, /to an address that paid the order/],
    ['another recipient than the named one', hash('1'), '40', STRANGER, /to 0x22/],
    ['another token', hash('4'), '40', null, /holds no transfer/],
    ['a transaction that failed', hash('2'), '40', null, /no such transaction, or it failed/],
    ['a transaction that does not exist', hash('9'), '40', null, /no such transaction, or it failed/],
    ['an amount that USDC does not have', hash('1'), '40.0000001', null, /at most 6 decimals/],
  ])('is refused with %s', async (_, transaction, amount, recipient, message) => {
    await expect(check(transaction, amount, recipient)).rejects.toThrow(message);
  });

  it('is not checked, and says so, where no node of its chain is configured', async () => {
    for (const config of [{ chainId: 10 }, { chainRpcUrl: null }, { usdcAddress: null }])
      expect(await check(hash('9'), '40', null, config)).toMatch(/was not checked/);
  });

  it('is unavailable where the node does not respond', async () => {
    await expect(check(hash('1'), '40', null, { chainRpcUrl: 'http://127.0.0.1:1' })).rejects.toMatchObject({
      code: 'unavailable',
    });
  });
});
