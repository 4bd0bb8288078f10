import { describe, expect, it } from '@jest/globals';
import { Account, type AccountEvent } from './account.js';

const [REPORTED, ENDED, LATER] = [1, 2, 3].map((day) => new Date(Date.UTC(2026, 0, day))) as [
  Date,
  Date,
  Date,
];
const event = (type: string, data: object, recordedAt = REPORTED): AccountEvent => ({
  position: '1',
  type,
  data,
  recordedAt,
});
const reported = (id = 'p', amount = '12.50'): AccountEvent =>
  event('payout.reported.v1', { payout_id: id, amount });
const received = (id = 'p', amount = '12.50', at = ENDED): AccountEvent =>
  event('payout.received.v2', { payout_id: id, amount }, at);
const expired = (id = 'p', at = ENDED): AccountEvent =>
  event('payout.expired.v1', { payout_id: id, amount: '12.50' }, at);

function accountOf(...events: readonly AccountEvent[]): Account {
  const account = new Account();
  for (const each of events) account.add(each);
  return account;
}

describe('the account of a user', () => {
  it.each<[string, readonly AccountEvent[], readonly [string, string, string]]>([
    ['nothing', [], ['0', '0', '0']],
    ['a pending payout', [reported()], ['0', '12.5', '12.5']],
    ['a payout that was received', [reported(), received()], ['12.5', '0', '12.5']],
    ['a payout that has expired', [reported(), expired()], ['0', '0', '0']],
    ['two payouts, one received', [reported(), reported('q', '1'), received()], ['12.5', '1', '13.5']],
    ['a payout that is reported twice', [reported(), reported('p', '99')], ['0', '12.5', '12.5']],
    ['a payout that is received twice', [reported(), received(), received()], ['12.5', '0', '12.5']],
    [
      'a payout that expires after it was received',
      [reported(), received(), expired()],
      ['12.5', '0', '12.5'],
    ],
    ['a payout received with another amount', [reported(), received('p', '99')], ['12.5', '0', '12.5']],
    ['outcomes of no payout', [received(), expired('q')], ['0', '0', '0']],
    [
      'events that are of no payout',
      [
        event('payout.reported.v1', { amount: '5' }),
        event('payout.reported.v1', { payout_id: 'q', amount: '5,0' }),
        event('payout.reported.v1', { payout_id: 'q' }),
        event('user.payout.reported.v1', { payout_id: 'q', amount: '5' }),
        event('payout_intent.announced.v1', { payout_id: 'q', amount: '5' }),
      ],
      ['0', '0', '0'],
    ],
    [
      'events of a payout that are none of its outcomes',
      [reported(), event('payout.noted.v1', { payout_id: 'p', amount: '12.50' })],
      ['0', '12.5', '12.5'],
    ],
  ])('adds up %s', (_what, events, [confirmed, pending, committed]) => {
    expect(accountOf(...events).figures).toEqual({ confirmed, pending, committed });
  });

  it('says of each payout when it was reported and when it ended', () => {
    const { payouts } = accountOf(reported(), reported('q', '1'), received(), expired('p', LATER));
    expect([...payouts.values()]).toEqual([
      { id: 'p', amount: '12.50', reportedAt: REPORTED, status: 'received', endedAt: ENDED },
      { id: 'q', amount: '1', reportedAt: REPORTED, status: 'pending', endedAt: null },
    ]);
  });
});
