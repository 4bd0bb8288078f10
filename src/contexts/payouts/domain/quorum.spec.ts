import { describe, expect, it } from '@jest/globals';
import { closingName, isSecondCheck, quorumFinding, type Closing, type Finding } from './verification.js';

const settled = (over: object = {}): Finding => ({
  ...{ kind: 'settled', blockNumber: 10, blockHash: '0xb', blockTime: 1000 },
  logs: [{ logIndex: 0, from: '0xpayer' }],
  ...over,
});

describe('nodes that have a transfer', () => {
  it('agree when block, time, place and sender are the same', () => {
    expect(quorumFinding([settled(), settled()], 2)).toEqual(settled());
  });

  it.each([
    ['block', { blockHash: '0xc' }],
    ['time of the block', { blockTime: 1001 }],
    ['sender', { logs: [{ logIndex: 0, from: '0xother' }] }],
    ['place', { logs: [{ logIndex: 1, from: '0xpayer' }] }],
  ])('do not when the %s differs: it would be one node’s word', (_name, over) => {
    expect(quorumFinding([settled(), settled(over)], 2)).toBeNull();
  });

  it('do not while fewer than the quorum have a finding, or as many say another thing', () => {
    expect(quorumFinding([settled(), null, null], 2)).toBeNull();
    expect(quorumFinding([settled(), { kind: 'not_found' }], 1)).toBeNull();
    expect(quorumFinding([settled(), { kind: 'not_found' }, settled()], 2)).toEqual(settled());
  });

  it('agree on a transfer that is confirming, with different numbers of blocks', () => {
    const confirming: Finding = { kind: 'confirming', blocks: 3 };
    expect(quorumFinding([confirming, { kind: 'confirming', blocks: 4 }], 2)).toEqual(confirming);
  });
});

describe('an expiry', () => {
  const first: Closing = { finding: 'not_found', head: 10, at: new Date(1000) };
  const second: Closing = { finding: 'not_found', head: 11, at: new Date(2000) };
  const rules = { apartMs: 1000, mindsBlocks: true };

  it('follows the second of two equal findings, one second and one block apart', () => {
    expect(isSecondCheck(first, second, rules)).toBe(true);
  });

  it.each<[string, Closing | null, Closing]>([
    ['there was no earlier finding', null, second],
    ['the two findings differ', { ...first, finding: 'reverted' }, second],
    ['they are a millisecond too close', { ...first, at: new Date(1001) }, second],
    ['they are from the same block', first, { ...second, head: 10 }],
  ])('waits while %s', (_what, one, other) => {
    expect(isSecondCheck(one, other, rules)).toBe(false);
  });

  it('needs no other block on a chain whose blocks say nothing of time', () => {
    expect(isSecondCheck(first, { ...second, head: 10 }, { ...rules, mindsBlocks: false })).toBe(true);
  });

  it('compares a transfer that is confirming by the blocks that it still needs', () => {
    expect(closingName({ kind: 'confirming', blocks: 3 })).toBe('confirming 3');
    expect(closingName({ kind: 'reverted' })).toBe('reverted');
  });
});
