import { describe, expect, it } from '@jest/globals';
import { checkOf, confirmationsOf, noResponseOf, settledBy, sourcesIn } from './verdict.js';
import type { TransactionReceipt } from './verification.js';

const HASH = `0x${'a'.repeat(64)}`;
const payout = { payoutId: 'p', hash: HASH, wallet: '0xAbC', amountMinor: 5_000_000n, checks: 2 };
const source = { sha256: 'f'.repeat(64), text: '{}' };
const receipt: TransactionReceipt = {
  succeeded: true,
  blockNumber: 10,
  blockHash: '0xb',
  transfers: [],
  blockTime: 1_767_323_045,
  source,
};
const observed = (of: TransactionReceipt | null) => ({
  node: 'node.example',
  head: { number: 21 },
  receipts: new Map([[HASH, of]]),
});
const settled = {
  kind: 'settled',
  blockNumber: 10,
  blockHash: '0xb',
  blockTime: 1_767_323_045,
  logs: [{ logIndex: 3, from: '0xfrom' }],
} as const;

describe('confirmations', () => {
  it('count the block of the transfer as the first', () =>
    expect([9, 10, 11, 21].map((head) => confirmationsOf(10, head))).toEqual([0, 1, 2, 12]));
});

describe('a settled payout', () => {
  it('has the transfers that the nodes agree on, with the confirmations and the receipt of one node', () => {
    expect(settledBy(observed(receipt), settled, payout, '0xToken')).toEqual({
      source,
      transfers: [
        {
          log_index: 3,
          block_number: 10,
          block_hash: '0xb',
          block_time: '2026-01-02T03:04:05.000Z',
          confirmations: 12,
          token: '0xtoken',
          from: '0xfrom',
          to: '0xabc',
          value: '5000000',
          receipt_sha256: source.sha256,
        },
      ],
    });
  });

  it.each([
    ['its receipt', observed({ ...receipt, source: undefined! }), settled, payout],
    ['the time of its block', observed(receipt), { ...settled, blockTime: undefined! }, payout],
    ['the wallet of its user', observed(receipt), settled, { ...payout, wallet: null }],
  ] as const)('is not recorded without %s', (_, seen, finding, of) => {
    expect(settledBy(seen, finding, of, '0xToken')).toBeNull();
  });

  it('is the only verdict whose receipt is kept', () => {
    const kept = { finding: { kind: 'settled' as const, transfers: [], source }, head: 21 };
    expect(sourcesIn([null, { finding: { kind: 'not_found' }, head: 21 }, kept])).toEqual([source]);
  });
});

describe('a check', () => {
  it('records the node that was read, its newest block and the confirmations', () => {
    const check = { payoutId: 'p', number: 3, node: 'node.example', head: 21 };
    expect(checkOf(payout, 'confirming', observed(receipt))).toEqual({
      ...check,
      finding: 'confirming',
      confirmations: 12,
    });
    expect(checkOf(payout, 'not_found', observed(null))).toEqual({
      ...check,
      finding: 'not_found',
      confirmations: null,
    });
  });

  it('records no node where none responded, and where none was needed', () => {
    const nothing = { payoutId: 'p', number: 3, node: null, head: null, confirmations: null };
    expect(noResponseOf(payout)).toEqual({ ...nothing, finding: 'no_response' });
    expect(checkOf(payout, 'no_wallet', observed(receipt))).toEqual({ ...nothing, finding: 'no_wallet' });
  });
});
