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

  const order = { amount_from: '5', amount_to: '0.1', pair_id: 'USDCSOL', refundable: '1' };
  const transfer = {
    amount: '5',
    transaction_hash: ' 0x1 ',
    log_index: 3,
    block_number: 7,
    deposited_at: 'then',
  };
  it.each<[string, object, readonly string[]]>([
    ['payout.received.v2', transfer, ['5 USDC, found in block 7', 'transaction 0x1, log 3']],
    ['payout.expired.v1', { reason: 'not found' }, ['not found']],
    [
      'order.created.v1',
      { ...order, expires_at: '2026-01-31T12:00:00Z', withdraw_address: 'address' },
      ['5 for 0.1 of USDCSOL, until 2026-01-31 12:00:00', 'paid out to address'],
    ],
    ['order.deposit_received.v1', transfer, ['5 in a block of then', 'transaction  0x1 ']],
    [
      'order.completed.v1',
      { ...order, withdraw_transaction_hash: '0x2' },
      ['0.1 paid out', 'transaction 0x2'],
    ],
    ['order.failed.v1', { ...order, reason: 'too low' }, ['too low; 1 is refundable']],
    ['order.cancelled.v1', order, ['1 is refundable']],
    ['user.activated.v1', { issuer_wallet_address: '0x3' }, ['wallet 0x3']],
    ['user.activated.v1', {}, ['wallet not known']],
  ])('says of %s what it is about', (type, data, lines) => {
    expect(inWords(type, data as Readonly<Record<string, unknown>>, NONE)).toEqual(lines);
  });

  it.each(['order.marked_as_paid.v1', 'order.late_deposit_recorded.v1', 'order.deposit_missing.v1'])(
    'says more of %s than its fields',
    (type) => {
      const lines = inWords(type, { ...transfer, waits_until: 'until then' }, NONE);
      expect(lines.join()).toMatch(/waits until until then|5 in a block of.*too late|5 did not come.*0x1/);
    },
  );

  it('says what an exchange starts with and what an expiry means', () => {
    expect(inWords('order.processing_started.v1', order, NONE)).toEqual([
      '5 is exchanged for 0.1, 1 is refundable',
    ]);
    expect(inWords('order.expired.v1', {}, NONE)).toEqual(['nothing was paid in time']);
  });

  it('writes a time as one only where all of the text is one', () => {
    const data = { note: 'at 2026-01-31T12:00:00Z', other: '2026-01-31T12:00:00Z or later', count: 7 };
    expect(inWords('thing.made.v1', { ...data, list: ['a'], created_at: 'left out' }, NONE)).toEqual([
      'note at 2026-01-31T12:00:00Z, other 2026-01-31T12:00:00Z or later, count 7, list ["a"]',
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
    for (const actor of ['users.deactivation', 'onboarding.steps', 'exchange.watch', 'webhooks.disabling'])
      expect(actorInWords(actor)).toMatch(new RegExp(`^${actor}, the worker that .`));
    expect(actorInWords('payouts.verification')).toMatch(/^payouts.verification, the worker/);
    expect(bareName('payout.received.v12')).toBe('payout.received');
    expect(bareName('a.v2.b')).toBe('a.v2.b');
    expect(bareName('payout.received.v2')).toBe('payout.received');
  });
});
