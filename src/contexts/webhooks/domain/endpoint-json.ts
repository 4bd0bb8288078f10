import type { DisableCause, Endpoint } from './webhook-endpoints.js';

/** A WebhookEndpoint as it is answered (contract.md 12), and what we show besides. */
export interface EndpointJson {
  readonly id: string;
  readonly url: string;
  readonly description: string | null;
  readonly status: string;
  readonly created_at: string;
  readonly updated_at: string;
  /** Types it hears of; null means all. */
  readonly event_types: readonly string[] | null;
  /** Failed attempts that count towards automatic disabling now (contract.md 15.5), at most {@link FAILURE_COUNT_LIMIT}. */
  readonly failure_count: number;
  readonly disabled_cause: DisableCause | null;
  readonly disabled_at: string | null;
  /** Only in the answers to registration and rotation. */
  readonly signing_secret?: string;
}

/** Failures are counted no further: an answer costs the same however many there are. */
export const FAILURE_COUNT_LIMIT = 1000;

export function endpointJson(endpoint: Endpoint, failureCount: number, signingSecret?: string): EndpointJson {
  return {
    id: endpoint.id,
    url: endpoint.url,
    description: endpoint.description,
    status: endpoint.status,
    created_at: endpoint.createdAt,
    updated_at: endpoint.updatedAt,
    event_types: endpoint.eventTypes,
    failure_count: failureCount,
    disabled_cause: endpoint.disabledCause,
    disabled_at: endpoint.disabledAt,
    ...(signingSecret === undefined ? {} : { signing_secret: signingSecret }),
  };
}
