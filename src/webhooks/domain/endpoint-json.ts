import type { Endpoint } from './webhook-endpoints.js';

/** A WebhookEndpoint as it is answered (merchant-api section 2.4); `event_types` is ours: null means all. */
export interface EndpointJson {
  readonly id: string;
  readonly url: string;
  readonly description: string | null;
  readonly status: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly event_types: readonly string[] | null;
  /** Only in the answer to registration. */
  readonly signing_secret?: string;
}

export function endpointJson(endpoint: Endpoint, signingSecret?: string): EndpointJson {
  return {
    id: endpoint.id,
    url: endpoint.url,
    description: endpoint.description,
    status: endpoint.status,
    created_at: endpoint.createdAt,
    updated_at: endpoint.updatedAt,
    event_types: endpoint.eventTypes,
    ...(signingSecret === undefined ? {} : { signing_secret: signingSecret }),
  };
}
