import { describe, expect, it } from '@jest/globals';
import { actorInWords, bareName, inWords } from './words.js';

const NONE = new Set<string>();

describe('an event in words', () => {
  it('says what matters of it, in UTC', () => {
    const data = {
      ...{ amount: '2', user_id: 'u', transaction_hash: ' 0x1', chain_id: 1 },
      expires_at: '2026-01-31T12:00:00.000Z',
    };
    expect(inWords('payout.reported.v1', data, NONE)).toEqual([
      '2 USDC to user u',
      'transaction 0x1',
      'on chain 1, looked for until 2026-01-31 12:00:00.000',
    ]);
  });

  it('names the fields of any other type, and says nothing when there is nothing', () => {
    expect(inWords('thing.made.v1', { merchant_id: 'm', at: 'then', colour: 'red', size: 2 }, NONE)).toEqual([
      'colour red, size 2',
    ]);
    expect(inWords('thing.made.v1', { merchant_id: 'm', note: null }, NONE)).toEqual([]);
  });

  it('keeps sealed what is sealed', () => {
    const data = { external_id: 'e', phone_number: 'ciphertext' };
    expect(inWords('user.created.v1', data, new Set(['phone_number']))).toEqual([
      'external id e, phone number (sealed)',
    ]);
  });

  it('tells what processes do, and takes routes as they are', () => {
    expect(actorInWords('payouts.verification')).toContain('the worker that looks payouts up');
    expect(actorInWords('operator')).toBe('an operator, with a program of the command line');
    expect(actorInWords('POST /v1/orders')).toBe('POST /v1/orders');
    expect(bareName('payout.received.v2')).toBe('payout.received');
  });
});
