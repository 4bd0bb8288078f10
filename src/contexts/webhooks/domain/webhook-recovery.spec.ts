import { it } from '@jest/globals';
import { givenOf } from '../../../../test/support/given.js';
import { fold } from '../../../kernel/aggregate.js';
import { webhookEndpoints, type WebhookEndpoints } from './webhook-endpoints.js';
import { requestRecovery, WEBHOOK_RECOVERY_REQUESTED, webhookRecovery } from './webhook-recovery.js';

const now = '2026-01-02T00:00:00.000Z';
const command = { recovery_id: 'r', endpoint_id: 'e', merchant_id: 'm', since: now, requested_at: now };
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
      data: { endpoint_id: 'e', merchant_id: 'm', cause: 'failing', at: now },
    },
  ],
  enabled,
);
const requested = { type: WEBHOOK_RECOVERY_REQUESTED, data: command } as const;
const given = givenOf(webhookRecovery);
const asking =
  (endpoints: WebhookEndpoints, changes: Partial<typeof command> = {}) =>
  (state: typeof webhookRecovery.initial) =>
    requestRecovery({ ...command, ...changes }, endpoints, state);

it('asks for a recovery, from this very moment at the latest', () => {
  given().when(asking(enabled)).then(requested);
});

it('asks once, however often the request is repeated and whatever became of the endpoint', () => {
  for (const endpoints of [enabled, disabled, none])
    given(requested)
      .when(asking(endpoints, { requested_at: 'later' }))
      .then();
});

it.each([
  ['a moment in the future', enabled, '2026-01-02T00:00:00.001Z', 'validation_failed'],
  ['a disabled endpoint', disabled, now, 'invalid_transition'],
  ['an endpoint that was deleted', none, now, 'not_found'],
] as const)('is refused for %s', (_, endpoints, since, code) => {
  given().when(asking(endpoints, { since })).thenRefused(code);
});
