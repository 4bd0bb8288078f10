import { describe, expect, it } from '@jest/globals';
import { agreement } from './agreement.js';
import type { Finding } from './verification.js';

const settled = (over: object = {}): Finding => ({
  ...{ kind: 'settled', blockNumber: 10, blockHash: '0xb', blockTime: 1000 },
  logs: [{ logIndex: 0, from: '0xpayer' }],
  ...over,
});

describe('nodes that tell of a transfer', () => {
  it('agree when block, time, place and sender are the same', () => {
    expect(agreement([settled(), settled()], 2)).toEqual(settled());
  });

  it.each([
    ['block', { blockHash: '0xc' }],
    ['time of the block', { blockTime: 1001 }],
    ['sender', { logs: [{ logIndex: 0, from: '0xother' }] }],
    ['place', { logs: [{ logIndex: 1, from: '0xpayer' }] }],
  ])('do not when the %s differs: it would be one node’s word', (_name, over) => {
    expect(agreement([settled(), settled(over)], 2)).toBeNull();
  });
});
