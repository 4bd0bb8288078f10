import type { Endpoint } from './webhook-endpoints.js';

export type EndpointJson = ReturnType<typeof endpointJson>;

/** A WebhookEndpoint as the API returns it (contract.md 12), and extensions. */
export function endpointJson(endpoint: Endpoint, failure_count: number) {
  return {
    id: endpoint.id,
    url: endpoint.url,
    description: endpoint.description,
    status: endpoint.status,
    created_at: endpoint.createdAt,
    updated_at: endpoint.updatedAt,
    event_types: endpoint.eventTypes,
    failure_count,
    disabled_cause: endpoint.disabledCause,
    disabled_at: endpoint.disabledAt,
  };
}
