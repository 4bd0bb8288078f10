import { describe, expect, it } from '@jest/globals';
import { fold } from '../../../kernel/aggregate.js';
import { webhookEndpoints, type WebhookEndpointEvent } from './webhook-endpoints.js';

const at = '2026-01-02T00:00:00.000Z';
const of = (endpoint_id: string): { endpoint_id: string; merchant_id: string } => ({
  endpoint_id,
  merchant_id: 'm-1',
});
const registered = (id: string): WebhookEndpointEvent => ({
  type: 'webhook_endpoint.registered.v1',
  data: {
    ...of(id),
    url: 'https://example.com/',
    description: null,
    event_types: null,
    sealed_signing_secret: 'sealed-0',
    created_at: at,
  },
});
const HISTORY: readonly WebhookEndpointEvent[] = [
  registered('e-1'),
  registered('e-2'),
  {
    type: 'webhook_endpoint.updated.v1',
    data: {
      ...of('e-1'),
      url: 'https://example.com/new',
      description: 'new',
      event_types: ['payout.received'],
      updated_at: at,
    },
  },
  { type: 'webhook_endpoint.disabled.v1', data: { ...of('e-1'), cause: 'merchant', at } },
  { type: 'webhook_endpoint.enabled.v1', data: { ...of('e-1'), at } },
  {
    type: 'webhook_endpoint.secret_rotated.v1',
    data: {
      ...of('e-1'),
      rotation_id: 'r-1',
      sealed_signing_secret: 'sealed-1',
      former_expires_at: at,
      at,
    },
  },
  { type: 'webhook_endpoint.deleted.v1', data: { ...of('e-2'), at } },
];

describe('a snapshot of webhook endpoints', () => {
  const { version, pack, unpack } = webhookEndpoints.snapshots!;

  it('is equivalent to the events at any point', () => {
    HISTORY.forEach((_, index) => {
      const before = fold(webhookEndpoints, HISTORY.slice(0, index));
      const kept = unpack(JSON.parse(JSON.stringify(pack(before))));
      expect(fold(webhookEndpoints, HISTORY.slice(index), kept)).toEqual(fold(webhookEndpoints, HISTORY));
    });
  });

  it('has this shape; another shape needs another version', () => {
    expect({ version, kept: pack(fold(webhookEndpoints, HISTORY)) }).toEqual({
      version: 2,
      kept: [
        {
          ...of('e-1'),
          url: 'https://example.com/new',
          description: 'new',
          event_types: ['payout.received'],
          sealed_signing_secret: 'sealed-1',
          former_secrets: [],
          secrets: [
            { rotation_id: 'r-1', sealed: 'sealed-1', at },
            { rotation_id: null, sealed: 'sealed-0', at },
          ],
          status: 'enabled',
          failures_since: at,
          disabled_cause: null,
          disabled_at: null,
          created_at: at,
          updated_at: at,
        },
      ],
    });
  });
});
