import { describe, expect, it } from '@jest/globals';
import { BalanceReplay, EvidenceCheck } from './balance-replay.js';
import { Violations } from './findings.js';

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
const deactivating = ['user-u', 'user.deactivation_started.v1', user] as const;
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
    'payout.received.v2',
    { ...facts, payout_id: id, log_index: logIndex, block_number: 1, received_at: 't' },
  ] as const;
const expired = (id = 'p') =>
  [`payout-${id}`, 'payout.expired.v1', { ...facts, payout_id: id, reason: 'r', expired_at: END }] as const;

type Recorded = readonly [stream: string, type: string, data: object];

function replayOf(...events: readonly Recorded[]): BalanceReplay {
  const books = new BalanceReplay(new Violations());
  events.forEach(([stream, type, data], place) => {
    books.add({ position: String(place + 1), stream, revision: 0, type, data });
  });
  return books;
}

const rules = (books: BalanceReplay): string[] => books.violations.listed.map(({ rule }) => rule);

describe('the replay of balances', () => {
  it('adds up the pending and confirmed payouts of a user', () => {
    const books = replayOf(created, reported('p'), reported('q', '7.5'), claimed(), received('p'));
    expect(books.balances.get('u')).toEqual({
      merchantId: 'm',
      confirmed: 12_500_000n,
      pending: 7_500_000n,
      isDeactivating: false,
    });
    expect(rules(books)).toEqual([]);
  });

  it('counts payouts by status', () => {
    const payouts = [reported(), reported('q'), reported('r')];
    const books = replayOf(created, ...payouts, expired('q'), claimed(), received());
    expect(books.counts).toEqual({ pending: 1, received: 1, expired: 1 });
  });

  it.each<[string, readonly Recorded[]]>([
    ['a deactivation that starts while a payout is pending', [created, reported(), deactivating]],
    ['a deactivation that ends after payouts expired', [created, reported(), deactivating, expired(), left]],
    ['a deactivation of a user who was never created', [left]],
    [
      'a transaction hash with whitespace around it',
      [
        created,
        reported(),
        claimed(),
        ['payout-p', 'payout.received.v2', { ...received()[2], transaction_hash: ' 0xAB\n' }],
      ],
    ],
    ['events of other kinds', [['order-o', 'order.created.v1', {}]]],
    ['claims of other kinds', [['user_phone_number-1', 'claim.taken.v1', { owner: 'user-u' }]]],
  ])('accepts %s', (_name, events) => {
    expect(rules(replayOf(...events))).toEqual([]);
  });

  it('accepts a claim of a transfer only in the stream of that transfer', () => {
    const [, type, data] = claimed();
    expect(rules(replayOf(created, reported(), ['x-31337_0xab_0', type, data], received())).join()).toMatch(
      /must hold the claim/,
    );
  });

  it('ignores a second outcome of a payout, and retains the balance of a user who is created again', () => {
    const books = replayOf(created, reported(), expired(), expired(), created);
    expect(books.counts).toEqual({ pending: 0, received: 0, expired: 1 });
    expect(books.balances.get('u')).toMatchObject({ pending: 0n, confirmed: 0n });
    const again = replayOf(created, reported(), created);
    expect(again.balances.get('u')).toMatchObject({ pending: 12_500_000n });
    expect(rules(again)).toEqual([]);
  });

  it.each<[string, readonly Recorded[], RegExp]>([
    ['a received payout without a claim', [created, reported(), received()], /must hold the claim/],
    [
      'a received payout whose claim was only released',
      [created, reported(), [claimed()[0], 'claim.released.v1', claimed()[2]], received()],
      /must hold the claim/,
    ],
    ['a claim by another payout', [created, reported(), claimed('q'), received()], /must hold the claim/],
    [
      'one transfer that confirms two payouts',
      [created, reported('p'), reported('q'), claimed('p'), received('p'), claimed('q'), received('q')],
      /must confirm only one payout/,
    ],
    [
      'a payout to a user of another merchant',
      [['user-u', 'user.created.v1', { ...user, merchant_id: 'n' }], reported()],
      /user of its merchant/,
    ],
    ['a payout to a deactivated user', [created, left, reported()], /not being deactivated/],
    ['a payout to an unknown user', [reported()], /user of its merchant/],
    [
      'a payout to a user whose deactivation started',
      [created, deactivating, reported()],
      /not being deactivated/,
    ],
    ['a deactivation with a pending payout', [created, reported(), left], /no pending payout when/],
  ])('reports %s', (_name, events, rule) => {
    expect(rules(replayOf(...events)).join()).toMatch(rule);
  });

  it('accepts two payouts that are confirmed by two transfers of one transaction', () => {
    const claims = [claimed('p', 0), claimed('q', 1)];
    const books = replayOf(created, reported(), reported('q'), ...claims, received(), received('q', 1));
    expect(rules(books)).toEqual([]);
  });
});

describe('the evidence of a payout', () => {
  type Event = readonly [type: string, data: object];
  const [WALLET, TOKEN] = [`0x${'2e'.repeat(20)}`, `0x${'70'.repeat(20)}`];
  const wallet = (type: string, address = WALLET.toUpperCase()): Event => [
    type,
    { user_id: 'u', issuer_wallet_address: address },
  ];
  const activated = wallet('user.activated.v1');
  const transfer = { value: '12500000', to: WALLET, token: TOKEN, confirmations: 1 };
  const settled = (over: object = {}): Event => ['payout.received.v2', { ...facts, ...transfer, ...over }];

  function checkOf(events: readonly Event[], token: string | null = TOKEN.toUpperCase()) {
    const violations = new Violations();
    const check = new EvidenceCheck(violations, token);
    events.forEach(([type, data], place) =>
      check.add({ position: String(place + 1), stream: 's', revision: 0, type, data }),
    );
    return [violations.listed, check.checked];
  }

  it.each<[string, readonly Event[], string | null]>([
    ['the amount of the payout in USDC to the wallet of its user', [activated, settled()], TOKEN],
    [
      'the amount of the payout to a wallet that onboarding has created',
      [wallet('onboarding.wallet_provisioned.v1'), settled()],
      TOKEN,
    ],
    ['any token if the address of USDC is not known', [activated, settled({ token: '0x' })], null],
  ])('can be a transfer of %s', (_what, events, token) => {
    expect(checkOf(events, token)).toEqual([[], 1]);
  });

  const ofAmount = 'payout p: the evidence must be a transfer of the payout amount, not of';
  it.each<[string, readonly Event[], string]>([
    [
      'of one minor unit less',
      [activated, settled({ value: '12499999' })],
      `${ofAmount} 12499999 minor units for 12.50`,
    ],
    ['without a value', [activated, settled({ value: null })], ofAmount],
    ['for a payout with an invalid amount', [activated, settled({ amount: '12,5' })], ofAmount],
    [
      'to another wallet',
      [activated, settled({ to: '0x1' })],
      `payout p: the evidence must be a transfer to the user's wallet ${WALLET}, not to 0x1`,
    ],
    ['to a user without a wallet', [settled()], "to the user's wallet (none), not to 0x2e"],
    [
      'to a former wallet of the user',
      [activated, wallet('user.activated.v1', '0x9'), settled()],
      "the user's wallet 0x9",
    ],
    [
      'of another token',
      [activated, settled({ token: '0xff' })],
      `payout p: the evidence must be a transfer of the token ${TOKEN}, not of 0xff`,
    ],
    ['with 0 confirmations', [activated, settled({ confirmations: 0 })], 'at least one confirmation'],
    ['without a number of confirmations', [activated, settled({ confirmations: null })], 'one confirmation'],
  ])('is reported when it is a transfer %s', (_what, events, rule) => {
    const violation = { position: String(events.length), rule: expect.stringContaining(rule) as unknown };
    expect(checkOf(events)).toEqual([[violation], 1]);
  });
});
