import { expect, it } from '@jest/globals';
import { fold } from '../../../kernel/aggregate.js';
import { newId } from '../../../kernel/ids.js';
import type { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { webhookEndpoints, type WebhookEndpointEvent } from '../domain/webhook-endpoints.js';
import type { FailingEndpoints } from '../store/failing-endpoints.js';
import { EndpointsView } from './endpoints.js';

const merchant_id = newId();
const [kept, deleted, newer] = [newId(), newId(), newId()];

const registered = (endpoint_id: string, created_at: string): WebhookEndpointEvent => {
  const fields = { url: 'https://example.com/', description: 'é', event_types: null };
  const data = { endpoint_id, merchant_id, ...fields, sealed_signing_secret: 'hidden', created_at };
  return { type: 'webhook_endpoint.registered.v1', data };
};
const HISTORY: readonly WebhookEndpointEvent[] = [
  registered(newer, '2026-01-03T00:00:00.000Z'),
  registered(kept, '2026-01-01T00:00:00.000Z'),
  registered(deleted, '2026-01-02T00:00:00.000Z'),
  {
    type: 'webhook_endpoint.disabled.v1',
    data: { endpoint_id: kept, merchant_id, cause: 'gone', at: '2026-01-04T00:00:00.000Z' },
  },
  {
    type: 'webhook_endpoint.deleted.v1',
    data: { endpoint_id: deleted, merchant_id, at: '2026-01-05T00:00:00.000Z' },
  },
];
const loop = {
  show: (_aggregate: unknown, id: string) =>
    Promise.resolve(fold(webhookEndpoints, id === merchant_id ? HISTORY : [])),
} as unknown as CommandLoop;
const failing = { counts: () => Promise.resolve(new Map([[kept, 3]])) } as unknown as FailingEndpoints;
const view = new EndpointsView(loop, failing);

it('the list shows the endpoints of a merchant, oldest first, without their secrets', async () => {
  const expected = {
    id: kept,
    url: 'https://example.com/',
    description: 'é',
    status: 'disabled',
    event_types: null,
    created_at: '2026-01-01T00:00:00.000Z',
    updated_at: '2026-01-04T00:00:00.000Z',
    failure_count: 3,
    disabled_cause: 'gone',
    disabled_at: '2026-01-04T00:00:00.000Z',
  };
  const none = { failure_count: 0, disabled_cause: null, disabled_at: null };
  expect(await view.list(merchant_id)).toEqual([
    expected,
    expect.objectContaining({ id: newer, status: 'enabled', ...none }),
  ]);
  expect(await view.find(merchant_id, kept)).toEqual(expected);
  expect(await view.owns(merchant_id, kept)).toBe(true);
});

it('the list has nothing that was deleted, and nothing of other merchants', async () => {
  expect(await view.find(merchant_id, deleted)).toBeNull();
  expect(await view.owns(merchant_id, deleted)).toBe(false);
  expect(await view.find(newId(), kept)).toBeNull();
  expect(await view.list(newId())).toEqual([]);
});
