import { describe, expect, it } from '@jest/globals';
import {
  closingName,
  countConfirmations,
  expiryReason,
  toFinding,
  isSecondCheck,
  quorumFinding,
  recordedTransfers,
  type Finding,
  type Sighting,
  type TransactionReceipt,
  type TransferLog,
  type Closing,
} from './verification.js';

const expected = { token: '0xTOKEN', wallet: '0xWaLLet', amountMinor: 1_000_000n };
const log = (over: Partial<TransferLog> = {}): TransferLog => ({
  token: '0xtoken',
  from: '0xpayer',
  to: '0xwallet',
  amountMinor: 1_000_000n,
  logIndex: 0,
  ...over,
});
const receipt = (...transfers: TransferLog[]): TransactionReceipt => ({
  succeeded: true,
  blockNumber: 10,
  blockHash: '0xb',
  blockTime: 1000,
  transfers,
});
const sighting: Sighting = {
  log_index: 0,
  block_number: 10,
  block_hash: '0xb',
  block_time: '1970-01-01T00:16:40.000Z',
  token: '0xtoken',
  from: '0xpayer',
  to: '0xwallet',
  value: '1000000',
};
const settled = (over: Partial<Sighting> = {}): Extract<Finding, { kind: 'settled' }> => ({
  kind: 'settled',
  transfers: [{ ...sighting, ...over }],
});
const at = (found: TransactionReceipt | null, final = 10, used: readonly number[] = []): Finding =>
  toFinding(found, expected, final, new Set(used));

describe('the verification of a receipt', () => {
  it.each<[string, Finding, Finding]>([
    ['no receipt', at(null), { kind: 'not_found' }],
    ['a failed transaction', at({ ...receipt(log()), succeeded: false }), { kind: 'reverted' }],
    ['no transfer', at(receipt()), { kind: 'wrong_token' }],
    ['another token', at(receipt(log({ token: '0xother' }))), { kind: 'wrong_token' }],
    ['another recipient', at(receipt(log({ to: '0xother' }))), { kind: 'wrong_recipient' }],
    ['a unit too little', at(receipt(log({ amountMinor: 999_999n }))), { kind: 'wrong_amount' }],
    ['a unit too much', at(receipt(log({ amountMinor: 1_000_001n }))), { kind: 'wrong_amount' }],
    [
      'the amount in two transfers',
      at(receipt(log({ amountMinor: 500_000n }), log({ amountMinor: 500_000n, logIndex: 1 }))),
      { kind: 'wrong_amount' },
    ],
    ['a log that another payout used', at(receipt(log()), 10, [0]), { kind: 'already_used' }],
    ['a block that is not final yet', at(receipt(log()), 9), { kind: 'confirming', blocks: 1 }],
    ['a final head that went back', at(receipt(log()), 5), { kind: 'confirming', blocks: 5 }],
    ['a final block', at(receipt(log())), settled()],
    [
      'a fitting log among others',
      at(receipt(log({ token: '0xother' }), log({ to: '0xother', logIndex: 1 }), log({ logIndex: 2 }))),
      settled({ log_index: 2 }),
    ],
    [
      'two fitting logs, one used',
      at(receipt(log(), log({ logIndex: 1 })), 10, [0]),
      settled({ log_index: 1 }),
    ],
  ])('returns the right finding for %s', (_name, finding, verdict) => expect(finding).toEqual(verdict));

  it('words each expiry reason differently', () => {
    const kinds = [
      ...['not_found', 'no_wallet', 'reverted', 'wrong_token', 'wrong_recipient', 'wrong_amount'],
      'already_used',
    ];
    const reasons = kinds.map((kind) => expiryReason({ kind: kind as 'not_found' }));
    expect(new Set(reasons).size).toBe(kinds.length);
    expect(expiryReason({ kind: 'confirming', blocks: 2 })).toMatch(/not final, by 2 blocks$/);
    expect(expiryReason({ kind: 'confirming', blocks: 1 })).toMatch(/not final, by 1 block$/);
  });
});

describe('nodes that have a transfer', () => {
  it('agree if block, time, position and sender are the same', () => {
    expect(quorumFinding([settled(), settled()], 2)).toEqual(settled());
  });

  it.each([
    ['block', { block_hash: '0xc' }],
    ['time of the block', { block_time: '1970-01-01T00:16:41.000Z' }],
    ['sender', { from: '0xother' }],
    ['position', { log_index: 1 }],
  ])('disagree if the %s differs', (_name, over) => {
    expect(quorumFinding([settled(), settled(over)], 2)).toBeNull();
  });

  it('do not agree while no finding reaches the quorum, or if two findings reach it', () => {
    expect(quorumFinding([settled(), null, null], 2)).toBeNull();
    expect(quorumFinding([settled(), { kind: 'not_found' }], 1)).toBeNull();
    expect(quorumFinding([settled(), { kind: 'not_found' }, settled()], 2)).toEqual(settled());
  });

  it('agree on a transfer that is not final even if they count different numbers of missing blocks', () => {
    const confirming: Finding = { kind: 'confirming', blocks: 3 };
    expect(quorumFinding([confirming, { kind: 'confirming', blocks: 4 }], 2)).toEqual(confirming);
  });
});

describe('the expiry of a payout', () => {
  const at = (ms: number): string => new Date(ms).toISOString();
  const first: Closing = { finding: 'not_found', head: 10, at: at(1000) };
  const second: Closing = { finding: 'not_found', head: 11, at: at(2000) };
  const rules = { apartMs: 1000, requiresNewerHead: true };

  it('follows two equal findings that are one second and one block apart', () => {
    expect(isSecondCheck(first, second, rules)).toBe(true);
  });

  it.each<[string, Closing | null, Closing]>([
    ['there was no earlier finding', null, second],
    ['the two findings differ', { ...first, finding: 'reverted' }, second],
    ['the checks are a millisecond too close', { ...first, at: at(1001) }, second],
    ['both checks are at the same block', first, { ...second, head: 10 }],
  ])('waits while %s', (_what, one, other) => {
    expect(isSecondCheck(one, other, rules)).toBe(false);
  });

  it('does not need another block on a chain without useful block times', () => {
    expect(isSecondCheck(first, { ...second, head: 10 }, { ...rules, requiresNewerHead: false })).toBe(true);
  });

  it('compares findings of a transfer that is not final by the number of missing blocks', () => {
    expect(closingName({ kind: 'confirming', blocks: 3 })).toBe('confirming 3');
    expect(closingName({ kind: 'reverted' })).toBe('reverted');
  });
});

describe('the number of confirmations', () => {
  it('counts the block of the transfer as the first', () =>
    expect([9, 10, 11, 21].map((head) => countConfirmations(10, head))).toEqual([0, 1, 2, 12]));
});

describe('the evidence of a settled payout', () => {
  const source = { sha256: 'f'.repeat(64), text: '{}' };

  it('is recorded with the confirmations and the receipt of one node', () => {
    expect(recordedTransfers(settled({ log_index: 3 }), { ...receipt(), source }, 21)).toEqual([
      { ...sighting, log_index: 3, confirmations: 12, receipt_sha256: source.sha256 },
    ]);
  });

  it.each([
    ['a receipt', null],
    ['the bytes of the receipt', receipt()],
    ['the time of the block', { ...receipt(), source, blockTime: undefined! }],
  ])('is not recorded without %s', (_, seen) => expect(recordedTransfers(settled(), seen, 21)).toBeNull());
});
