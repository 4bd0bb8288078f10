import type {
  EndpointFields,
  Register,
  RotateSecret,
  WebhookEndpointEvent,
} from '../../../src/contexts/webhooks/endpoints/webhook-endpoints.js';

export const merchant_id = 'm-1';
export const at = '2026-01-02T00:00:00.000Z';

export function endpointOf(endpoint_id: string): Register {
  return {
    endpoint_id,
    merchant_id,
    url: `https://example.com/${endpoint_id}`,
    description: null,
    event_types: null,
    sealed_signing_secret: 'sealed',
    created_at: '2026-01-01T00:00:00.000Z',
  };
}

export const registered = (id: string): WebhookEndpointEvent => ({
  type: 'webhook_endpoint.registered.v1',
  data: endpointOf(id),
});
export const disabled = (id: string): WebhookEndpointEvent => ({
  type: 'webhook_endpoint.disabled.v1',
  data: { endpoint_id: id, merchant_id, cause: 'merchant', at },
});
export const enabled = (id: string): WebhookEndpointEvent => ({
  type: 'webhook_endpoint.enabled.v1',
  data: { endpoint_id: id, merchant_id, at },
});
export const deleted = (id: string): WebhookEndpointEvent => ({
  type: 'webhook_endpoint.deleted.v1',
  data: { endpoint_id: id, merchant_id, at },
});

export const updated = (fields: Partial<EndpointFields> = {}): WebhookEndpointEvent => ({
  type: 'webhook_endpoint.updated.v1',
  data: {
    endpoint_id: 'e-1',
    merchant_id,
    url: 'https://example.com/e-1',
    description: null,
    event_types: null,
    ...fields,
    updated_at: at,
  },
});

export const day = (number: number): string => `2026-01-0${number}T00:00:00.000Z`;

export function rotation(onDay: number, overlapDays = 1): RotateSecret {
  return {
    endpoint_id: 'e-1',
    merchant_id,
    rotation_id: `r-${onDay}`,
    sealed_signing_secret: `sealed-${onDay}`,
    former_expires_at: day(onDay + overlapDays),
    at: day(onDay),
  };
}
export const rotated = (data: RotateSecret): WebhookEndpointEvent => ({
  type: 'webhook_endpoint.secret_rotated.v1',
  data,
});
