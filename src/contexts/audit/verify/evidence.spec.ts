import { describe, expect, it } from '@jest/globals';
import { EvidenceCheck } from './balance-replay.js';
import { Violations } from './findings.js';

type Recorded = readonly [type: string, data: object];

const [WALLET, TOKEN] = [`0x${'2e'.repeat(20)}`, `0x${'70'.repeat(20)}`];
const activated: Recorded = [
  'user.activated.v1',
  { user_id: 'u', issuer_wallet_address: WALLET.toUpperCase() },
];
const provisioned: Recorded = ['onboarding.wallet_provisioned.v1', activated[1]];
const received = (over: object = {}): Recorded => [
  'payout.received.v2',
  {
    payout_id: 'p',
    user_id: 'u',
    amount: '12.50',
    value: '12500000',
    to: WALLET,
    token: TOKEN,
    confirmations: 1,
    ...over,
  },
];

function checkOf(events: readonly Recorded[], token: string | null = TOKEN.toUpperCase()) {
  const violations = new Violations();
  const books = new EvidenceCheck(violations, token);
  events.forEach(([type, data], place) =>
    books.add({ position: String(place + 1), stream: 's', revision: 0, type, data }),
  );
  return { books, violations };
}

describe('the evidence of a payout', () => {
  it.each<[string, readonly Recorded[], string | null]>([
    ['its amount of the token to the wallet of its user', [activated, received()], TOKEN],
    ['its amount to the wallet that onboarding has created', [provisioned, received()], TOKEN],
    ['any token where that of the chain is not known', [activated, received({ token: '0x' })], null],
  ])('is a transfer of %s', (_what, events, token) => {
    const { books, violations } = checkOf(events, token);
    expect([violations.listed, books.checked]).toEqual([[], 1]);
  });

  it.each<[string, readonly Recorded[], string]>([
    [
      'of one unit less',
      [activated, received({ value: '12499999' })],
      'payout p: its evidence is a transfer of its amount, and not of 12499999 minor units for 12.50',
    ],
    [
      'that does not say its value',
      [activated, received({ value: null })],
      'a transfer of its amount, and not',
    ],
    ['of what is no amount', [activated, received({ amount: '12,5' })], 'a transfer of its amount, and not'],
    [
      'to a stranger',
      [activated, received({ to: '0x1' })],
      `payout p: its evidence is a transfer to its user's wallet ${WALLET}, and not to 0x1`,
    ],
    ['of a user without a wallet', [received()], "to its user's wallet (none), and not to 0x2e"],
    [
      'of a user whose wallet is another now',
      [activated, ['user.activated.v1', { user_id: 'u', issuer_wallet_address: '0x9' }], received()],
      "its user's wallet 0x9",
    ],
    [
      'of another token',
      [activated, received({ token: '0xff' })],
      `payout p: its evidence is a transfer of the token ${TOKEN}, and not of 0xff`,
    ],
    ['without a confirmation', [activated, received({ confirmations: 0 })], 'its evidence has confirmations'],
    ['that does not say its confirmations', [activated, received({ confirmations: null })], 'confirmations'],
  ])('is named when it is a transfer %s', (_what, events, rule) => {
    const { violations } = checkOf(events);
    expect(violations.listed).toEqual([
      { position: String(events.length), rule: expect.stringContaining(rule) as unknown },
    ]);
  });
});
