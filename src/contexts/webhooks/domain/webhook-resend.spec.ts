import { expect, it } from '@jest/globals';
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
const when = (endpoints: WebhookEndpoints, is_test = false) =>
  requestResend({ ...command, is_test }, endpoints, null);

it('asks for one more round of a delivery', () => expect(when(enabled)).toEqual([requested]));

it('asks once, however often the request is repeated and whatever became of the endpoint', () => {
  const state = fold(webhookResend, [requested]);
  for (const endpoints of [enabled, disabled, none]) {
    expect(requestResend({ ...command, requested_at: 'later' }, endpoints, state)).toEqual([]);
  }
});

it('is refused for a disabled endpoint, unless it is a test', () => {
  expect(() => when(disabled)).toThrow(expect.objectContaining({ code: 'invalid_transition' }));
  expect(when(disabled, true)).toHaveLength(1);
});

it('finds no endpoint that was deleted', () => {
  expect(() => when(none, true)).toThrow(expect.objectContaining({ code: 'not_found' }));
});
