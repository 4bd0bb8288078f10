import { describe, expect, it } from '@jest/globals';
import { Books, type BookedPayout } from './books.js';
import { Violations } from './violations.js';

const user = { user_id: 'u', merchant_id: 'm' };
const [START, END] = ['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z'];
const facts = {
  payout_id: 'p',
  merchant_id: 'm',
  user_id: 'u',
  amount: '12.50',
  currency_code: 'USDC',
  transaction_hash: '0xAB',
  custom_metadata: '{}',
  chain_id: 31337,
};
const claimed = (id = 'p', logIndex = 0) =>
  [`transfer-31337_0xab_${logIndex}`, 'claim.taken.v1', { owner: `payout-${id}` }] as const;
const created = ['user-u', 'user.created.v1', user] as const;
const leaving = ['user-u', 'user.deactivation_started.v1', user] as const;
const left = ['user-u', 'user.deactivated.v1', user] as const;
const reported = (id = 'p', amount = '12.50') =>
  [
    `payout-${id}`,
    'payout.reported.v1',
    { ...facts, payout_id: id, amount, created_at: START, expires_at: END },
  ] as const;
const received = (id = 'p', logIndex = 0) =>
  [
    `payout-${id}`,
    'payout.received.v1',
    { ...facts, payout_id: id, log_index: logIndex, block_number: 1, received_at: 't' },
  ] as const;
const expired = (id = 'p', at = END, hash = facts.transaction_hash) =>
  [
    `payout-${id}`,
    'payout.expired.v1',
    { ...facts, payout_id: id, transaction_hash: hash, reason: 'r', expired_at: at },
  ] as const;

function booksOf(...events: readonly (readonly [string, string, object])[]): Books {
  const books = new Books(new Violations(), (payout) => ended.push(payout));
  events.forEach(([stream, type, data], place) => {
    books.add({ position: String(place + 1), stream, revision: 0, type, data });
  });
  return books;
}

const rules = (books: Books): string[] => books.violations.first.map(({ rule }) => rule);

const ended: BookedPayout[] = [];

describe('the books', () => {
  it('add up pending and confirmed payouts of a user', () => {
    const books = booksOf(created, reported('p'), reported('q', '7.5'), claimed(), received('p'));
    expect(books.balances.get('u')).toEqual({
      merchantId: 'm',
      confirmed: 12_500_000n,
      pending: 7_500_000n,
      isLeaving: false,
    });
    expect(rules(books)).toEqual([]);
  });

  it('take an expired payout off what is pending and keep its reason', () => {
    const books = booksOf(created, reported(), expired());
    expect(books.balances.get('u')).toMatchObject({ confirmed: 0n, pending: 0n });
    expect(ended.at(-1)).toMatchObject({ id: 'p', status: 'expired', reason: 'r' });
    expect(books.open.size).toBe(0);
  });

  it.each([
    ['a second outcome', [created, reported(), claimed(), received(), expired()], /^payout p ends once$/],
    ['an outcome without a claim', [created, reported(), received()], /holds the claim/],
    ['a claim of another payout', [created, reported(), claimed('q'), received()], /holds the claim/],
    [
      'an expiry before the end',
      [created, reported(), expired('p', '2026-01-01T23:59:59.999Z')],
      /after its window/,
    ],
    [
      'another hash in the outcome',
      [created, reported(), expired('p', '2026-01-02T00:00:00.000Z', '0xCD')],
      /as it was reported/,
    ],
    ['an outcome without a report', [created, received()], /reported before it ends/],
    [
      'one transfer for two payouts',
      [created, reported('p'), reported('q'), claimed('p'), received('p'), claimed('q'), received('q')],
      /confirms one payout/,
    ],
    ['a payout to a user of nobody', [reported()], /user of its merchant/],
    ['an amount out of bounds', [created, reported('p', '10000.000001')], /in bounds/],
    ['a second report', [created, reported(), reported()], /reported once/],
    ['a payout to a user who leaves', [created, leaving, reported()], /not being deactivated/],
    ['a user who leaves too early', [created, reported(), left], /once no payout is pending/],
  ])('note %s', (_name, events, rule) => {
    expect(rules(booksOf(...events)).join()).toMatch(rule);
  });

  it('count a payout that was received with its evidence', () => {
    const [stream, , data] = received();
    const books = booksOf(created, reported(), claimed(), [stream, 'payout.received.v2', data]);
    expect(books.balances.get('u')).toMatchObject({ confirmed: 12_500_000n, pending: 0n });
    expect(rules(books)).toEqual([]);
  });

  it('let two logs of one transaction confirm two payouts', () => {
    const [one, two] = [claimed('p', 0), claimed('q', 1)];
    const books = booksOf(
      created,
      reported('p'),
      reported('q'),
      one,
      two,
      received('p', 0),
      received('q', 1),
    );
    expect(rules(books)).toEqual([]);
  });
});
