import { describe, expect, it } from '@jest/globals';
import { evidenceAt, FACTS } from '../../../../test/support/payouts/evidence.js';
import { toRecheck, type RecheckSighting } from './rechecked.js';
import type { TransactionReceipt } from './verification.js';

const evidence = evidenceAt(1);
const data = { ...FACTS, ...evidence, received_at: 't', created_at: 't' };
const log = {
  token: evidence.token,
  from: evidence.from,
  to: evidence.to,
  amountMinor: 12_500_000n,
  logIndex: 1,
};
const receipt: TransactionReceipt = {
  succeeded: true,
  blockNumber: 7,
  blockHash: evidence.block_hash,
  blockTime: Date.parse(evidence.block_time) / 1000,
  transfers: [{ ...log, logIndex: 0, to: '0x1' }, log],
};
const recheck = (seen: Partial<RecheckSighting>, of = data) =>
  toRecheck(of, { receipt, final: 20, hashAtHeight: evidence.block_hash, ...seen });
const withLog = (over: object): Partial<RecheckSighting> => ({
  receipt: { ...receipt, transfers: [{ ...log, ...over }] },
});

describe('the recheck of a received payout', () => {
  it('finds the payout unchanged while the chain has the same transfer', () => {
    expect(recheck({})).toEqual({ kind: 'unchanged' });
    expect(recheck({ final: 7 })).toEqual({ kind: 'unchanged' });
  });

  it('finds the payout moved if the same transfer is in another block', () => {
    const moved = { ...receipt, blockNumber: 9, blockHash: '0xc', blockTime: 1 };
    expect(recheck({ receipt: moved })).toEqual({
      kind: 'moved',
      why: 'its transfer is in block 9, 0xc',
    });
    expect(recheck({ receipt: { ...receipt, blockHash: '0xc' } })).toMatchObject({ kind: 'moved' });
  });

  it.each<[string, Partial<RecheckSighting>, RegExp]>([
    [
      'its block is not on the chain',
      { receipt: null, hashAtHeight: '0xc' },
      /^block not canonical: block 7/,
    ],
    [
      'its block was replaced by the newest final block',
      { receipt: null, final: 7, hashAtHeight: '0xc' },
      /^block not canonical: block 7/,
    ],
    ['its block lacks the transaction', { receipt: null }, /^receipt missing: block 7 is on the chain/],
    [
      'the transaction was reverted',
      { receipt: { ...receipt, succeeded: false } },
      /^log differs: the transaction was/,
    ],
    ['its log is no transfer', withLog({ logIndex: 0 }), /^log differs: log 1 is no transfer$/],
    ['the token differs', withLog({ token: '0x0' }), /^log differs: the token is 0x0/],
    ['the sender differs', withLog({ from: '0x0' }), /^log differs: the sender is 0x0, not/],
    ['the recipient differs', withLog({ to: '0x0' }), /^log differs: the recipient/],
    ['the value differs', withLog({ amountMinor: 1n }), /^log differs: the value is 1, not 12500000/],
    ['the time of the block differs', { receipt: { ...receipt, blockTime: 1 } }, /^log differs: the time of/],
  ])('finds the payout undone if %s', (_name, seen, why) => {
    expect(recheck(seen)).toEqual({ kind: 'undone', why: expect.stringMatching(why) });
  });

  it('finds the payout undone if its event contradicts itself', () => {
    expect(recheck({}, { ...data, amount: '13' })).toMatchObject({ kind: 'undone' });
    expect(recheck({}, { ...data, value: '13000000' })).toMatchObject({ kind: 'undone' });
  });

  it.each<[string, Partial<RecheckSighting>]>([
    ['has no usable response', { receipt: undefined }],
    ['is behind', { receipt: null, final: 6, hashAtHeight: undefined }],
    ['has the block of the transfer, but not as final', { final: 6 }],
    ['does not return the block', { receipt: null, hashAtHeight: undefined }],
    ['has no whole receipt', { receipt: { ...receipt, partial: true } }],
  ])('is undecided if the node %s', (_name, seen) => {
    expect(recheck(seen)).toMatchObject({ kind: 'unknown' });
  });
});
