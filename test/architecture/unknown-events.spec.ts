import { describe, expect, it } from '@jest/globals';
import type { Aggregate, DomainEvent } from '../../src/kernel/aggregate.js';
import { credentials } from '../../src/contexts/access/credentials/credentials.js';
import { merchant } from '../../src/contexts/access/merchants/merchant.js';
import { onboarding } from '../../src/contexts/onboarding/onboardings/onboarding.js';
import { payout } from '../../src/contexts/payouts/payouts/payout.js';
import { payee, user } from '../../src/contexts/users/users/user.js';
import { webhookEndpoints } from '../../src/contexts/webhooks/endpoints/webhook-endpoints.js';

/** An event of a newer version, whose name and data are unknown. */
const unknown = { type: 'something.of_a_newer_version.v9', data: { user_id: 'u', endpoint_id: 'e' } };

const registered = {
  type: 'webhook_endpoint.registered.v1',
  data: {
    endpoint_id: 'e',
    merchant_id: 'm',
    url: 'https://example.com',
    created_at: '2026-01-01T00:00:00Z',
  },
};

const AGGREGATES: readonly [
  string,
  Aggregate<never, never>,
  { readonly type: string; readonly data: object },
][] = [
  ['user', user as never, { type: 'user.created.v1', data: { user_id: 'u', merchant_id: 'm' } }],
  ['payee', payee as never, { type: 'user.created.v1', data: { user_id: 'u', merchant_id: 'm' } }],
  [
    'payout',
    payout as never,
    { type: 'payout.reported.v1', data: { payout_id: 'p', created_at: 'c', expires_at: 'e' } },
  ],
  ['merchant', merchant as never, { type: 'merchant.registered.v1', data: { merchant_id: 'm', name: 'n' } }],
  [
    'credentials',
    credentials as never,
    { type: 'credential.issued.v1', data: { owner_id: 'm', credential_id: 'c', key_id: 'k' } },
  ],
  ['webhook endpoints', webhookEndpoints as never, registered],
  [
    'onboarding',
    onboarding as never,
    { type: 'onboarding.started.v1', data: { user_id: 'u', merchant_id: 'm' } },
  ],
];

describe.each(AGGREGATES)('the fold of %s', (_, aggregate, first) => {
  const { initial, evolve } = aggregate as unknown as Aggregate<unknown, DomainEvent>;

  it('does not change with an event of an unknown type', () => {
    const begun = evolve(initial, first);
    expect(begun).not.toEqual(initial);
    expect(evolve(begun, unknown)).toBe(begun);
    expect(evolve(initial, unknown)).toBe(initial);
  });
});

it('an event of an unknown type does not change an onboarding after its identity check', () => {
  const { evolve } = onboarding as unknown as Aggregate<unknown, DomainEvent>;
  const events = [
    'onboarding.started.v1',
    'onboarding.phone_verified.v1',
    'onboarding.details_confirmed.v1',
    'onboarding.kyc_submitted.v1',
  ];
  const submitted = events.reduce<unknown>(
    (state, type) => evolve(state, { type, data: { user_id: 'u', merchant_id: 'm', verification_id: 'v' } }),
    onboarding.initial,
  );
  expect(submitted).toMatchObject({ stage: 'kyc_submitted' });
  expect(evolve(submitted, unknown)).toBe(submitted);
});
