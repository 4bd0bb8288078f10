import { expect, it } from '@jest/globals';
import type { Aggregate, DomainEvent } from '../../src/kernel/aggregate.js';
import { credentials } from '../../src/contexts/access/credentials/credentials.js';
import { merchant } from '../../src/contexts/access/merchants/merchant.js';
import { onboarding } from '../../src/contexts/onboarding/onboardings/onboarding.js';
import { payout } from '../../src/contexts/payouts/payouts/payout.js';
import { payee, user } from '../../src/contexts/users/users/user.js';
import { webhookEndpoints } from '../../src/contexts/webhooks/endpoints/webhook-endpoints.js';

/** An event of a newer version, with unknown name and data. */
const unknown = { type: 'something.of_a_newer_version.v9', data: { user_id: 'u', endpoint_id: 'e' } };

const owner = { user_id: 'u', merchant_id: 'm' };
const endpoint = { endpoint_id: 'e', merchant_id: 'm', url: 'https://example.com', created_at: 'c' };
const key = { owner_id: 'm', credential_id: 'c', key_id: 'k' };

/** Each aggregate with its first event. */
const AGGREGATES: readonly (readonly [name: string, aggregate: object, type: string, data: object])[] = [
  ['user', user, 'user.created.v1', owner],
  ['payee', payee, 'user.created.v1', owner],
  ['payout', payout, 'payout.reported.v1', { payout_id: 'p', created_at: 'c', expires_at: 'e' }],
  ['merchant', merchant, 'merchant.registered.v1', { merchant_id: 'm', name: 'n' }],
  ['credentials', credentials, 'credential.issued.v1', key],
  ['webhook endpoints', webhookEndpoints, 'webhook_endpoint.registered.v1', endpoint],
  ['onboarding', onboarding, 'onboarding.started.v1', owner],
];

it.each(AGGREGATES)('an event of an unknown type does not change the state of %s', (_, ...row) => {
  const [aggregate, type, data] = row;
  const { initial, evolve } = aggregate as Aggregate<unknown, DomainEvent>;
  const begun = evolve(initial, { type, data });
  expect(begun).not.toEqual(initial);
  expect(evolve(begun, unknown)).toBe(begun);
  expect(evolve(initial, unknown)).toBe(initial);
});

it('an event of an unknown type does not change an onboarding whose identity check is pending', () => {
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
