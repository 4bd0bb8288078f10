import type { WebhookEndpointEvent } from './webhook-endpoints.js';

/** A replaced signing secret that still signs, alongside the present one. */
export interface FormerSecret {
  readonly sealed: string;
  /** ISO 8601, UTC. */
  readonly expires_at: string;
}

/** Where one endpoint's deliveries go, as of an event. */
export interface Lane {
  readonly endpoint_id: string;
  readonly merchant_id: string;
  readonly url: string;
  readonly event_types: readonly string[] | null;
  readonly sealed_signing_secret: string;
  /** Newest first. */
  readonly former_secrets: readonly FormerSecret[];
  readonly status: 'enabled' | 'disabled' | 'deleted';
  /** Failed attempts that began later count towards automatic disabling. */
  readonly failures_since: string;
}

/** The lane after an event of its endpoint; undefined for an endpoint that was never registered. */
export function evolveLane(lane: Lane | undefined, event: WebhookEndpointEvent): Lane | undefined {
  if (event.type === 'webhook_endpoint.registered.v1') {
    const { endpoint_id, merchant_id, url, event_types, sealed_signing_secret, created_at } = event.data;
    const fresh = { former_secrets: [], status: 'enabled', failures_since: created_at } as const;
    return { endpoint_id, merchant_id, url, event_types, sealed_signing_secret, ...fresh };
  }
  if (!lane) return undefined;
  switch (event.type) {
    case 'webhook_endpoint.updated.v1':
      return { ...lane, url: event.data.url, event_types: event.data.event_types };
    case 'webhook_endpoint.enabled.v1':
      return { ...lane, status: 'enabled', failures_since: event.data.at };
    case 'webhook_endpoint.disabled.v1':
      return { ...lane, status: 'disabled' };
    case 'webhook_endpoint.secret_rotated.v1': {
      const { sealed_signing_secret, former_expires_at, at } = event.data;
      const replaced = { sealed: lane.sealed_signing_secret, expires_at: former_expires_at };
      const former_secrets = [replaced, ...lane.former_secrets].filter(({ expires_at }) => expires_at > at);
      return { ...lane, sealed_signing_secret, former_secrets };
    }
    case 'webhook_endpoint.deleted.v1':
      return { ...lane, status: 'deleted' };
    default:
      event satisfies never;
      return lane;
  }
}
