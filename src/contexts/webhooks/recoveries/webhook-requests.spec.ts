import { describe, it } from '@jest/globals';
import { givenOf } from '../../../../test/support/given.js';
import { fold } from '../../../kernel/aggregate.js';
import { webhookEndpoints, type WebhookEndpoints } from '../endpoints/webhook-endpoints.js';
import { webhookRecovery, webhookResend, webhookTest } from './webhook-requests.js';

const now = '2026-01-02T00:00:00.000Z';
const place = { endpoint_id: 'e', merchant_id: 'm' };
const none = webhookEndpoints.initial;
const enabled = fold(webhookEndpoints, [
  {
    type: 'webhook_endpoint.registered.v1',
    data: {
      ...place,
      url: 'https://example.com/',
      description: null,
      event_types: null,
      sealed_signing_secret: 's',
      created_at: '2026-01-01T00:00:00.000Z',
    },
  },
]);
const disabled = fold(
  webhookEndpoints,
  [{ type: 'webhook_endpoint.disabled.v1', data: { ...place, cause: 'merchant', at: now } }],
  enabled,
);

describe('a test delivery', () => {
  const command = { ...place, delivery_id: 'd', message: 'hello', occurred_at: 'now' };
  const requested = { type: 'webhook_endpoint.test_requested.v1', data: command } as const;
  const given = givenOf(webhookTest);

  it('is requested once, however often the request is repeated', () => {
    given()
      .when((state) => webhookTest.request(command, enabled, state))
      .then(requested);
    given(requested)
      .when((state) => webhookTest.request({ ...command, occurred_at: 'later' }, enabled, state))
      .then();
  });
});

describe('a resend', () => {
  const command = { ...place, resend_id: 'r', delivery_id: 'd', is_test: false, requested_at: now };
  const requested = { type: 'webhook_delivery.resend_requested.v1', data: command } as const;
  const given = givenOf(webhookResend);
  const asking =
    (endpoints: WebhookEndpoints, changes: Partial<typeof command> = {}) =>
    (state: typeof webhookResend.initial) =>
      webhookResend.request({ ...command, ...changes }, endpoints, state);

  it('starts another round of a delivery', () => given().when(asking(enabled)).then(requested));

  it('is requested once, even if the request is repeated after the endpoint has changed', () => {
    for (const endpoints of [enabled, disabled, none])
      given(requested)
        .when(asking(endpoints, { requested_at: 'later' }))
        .then();
  });

  it('is refused for a disabled endpoint, unless the delivery is a test', () => {
    given().when(asking(disabled)).thenRefused('invalid_transition');
    given()
      .when(asking(disabled, { is_test: true }))
      .then({ ...requested, data: { ...command, is_test: true } });
  });

  it('is refused for a deleted endpoint', () => {
    given()
      .when(asking(none, { is_test: true }))
      .thenRefused('not_found');
  });
});

describe('a recovery', () => {
  const command = { ...place, recovery_id: 'r', since: now, requested_at: now };
  const requested = { type: 'webhook_endpoint.recovery_requested.v1', data: command } as const;
  const given = givenOf(webhookRecovery);
  const asking =
    (endpoints: WebhookEndpoints, changes: Partial<typeof command> = {}) =>
    (state: typeof webhookRecovery.initial) =>
      webhookRecovery.request({ ...command, ...changes }, endpoints, state);

  it('is accepted for a time that is not in the future', () => {
    given().when(asking(enabled)).then(requested);
  });

  it('is requested once, even if the request is repeated after the endpoint has changed', () => {
    for (const endpoints of [enabled, disabled, none])
      given(requested)
        .when(asking(endpoints, { requested_at: 'later' }))
        .then();
  });

  it.each([
    ['a time in the future', enabled, '2026-01-02T00:00:00.001Z', 'validation_failed'],
    ['a disabled endpoint', disabled, now, 'invalid_transition'],
    ['an endpoint that was deleted', none, now, 'not_found'],
  ] as const)('is refused for %s', (_, endpoints, since, code) => {
    given().when(asking(endpoints, { since })).thenRefused(code);
  });
});
