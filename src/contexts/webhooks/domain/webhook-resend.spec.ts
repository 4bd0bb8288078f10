import { it } from '@jest/globals';
import { givenOf } from '../../../../test/support/given.js';
import { fold } from '../../../kernel/aggregate.js';
import { webhookEndpoints, type WebhookEndpoints } from './webhook-endpoints.js';
import { requestResend, WEBHOOK_RESEND_REQUESTED, webhookResend } from './webhook-resend.js';

const command = {
  ...{ resend_id: 'r', delivery_id: 'd', endpoint_id: 'e', merchant_id: 'm' },
  ...{ is_test: false, requested_at: '2026-01-02T00:00:00.000Z' },
};
const none = webhookEndpoints.initial;
const enabled = fold(webhookEndpoints, [
  {
    type: 'webhook_endpoint.registered.v1',
    data: {
      ...{ endpoint_id: 'e', merchant_id: 'm', url: 'https://example.com/', description: null },
      ...{ event_types: null, sealed_signing_secret: 's', created_at: '2026-01-01T00:00:00.000Z' },
    },
  },
]);
const disabled = fold(
  webhookEndpoints,
  [
    {
      type: 'webhook_endpoint.disabled.v1',
      data: { endpoint_id: 'e', merchant_id: 'm', cause: 'merchant', at: command.requested_at },
    },
  ],
  enabled,
);
const requested = { type: WEBHOOK_RESEND_REQUESTED, data: command } as const;
const given = givenOf(webhookResend);
const asking =
  (endpoints: WebhookEndpoints, changes: object = {}) =>
  (state: typeof webhookResend.initial) =>
    requestResend({ ...command, is_test: false, ...changes }, endpoints, state);

it('asks for one more round of a delivery', () => given().when(asking(enabled)).then(requested));

it('asks once, however often the request is repeated and whatever became of the endpoint', () => {
  for (const endpoints of [enabled, disabled, none])
    given(requested)
      .when(asking(endpoints, { requested_at: 'later' }))
      .then();
});

it('is refused for a disabled endpoint, unless it is a test', () => {
  given().when(asking(disabled)).thenRefused('invalid_transition');
  given()
    .when(asking(disabled, { is_test: true }))
    .then({ ...requested, data: { ...command, is_test: true } });
});

it('finds no endpoint that was deleted', () => {
  given()
    .when(asking(none, { is_test: true }))
    .thenRefused('not_found');
});
