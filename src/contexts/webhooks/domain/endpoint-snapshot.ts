import type { WebhookEndpointEvent } from './webhook-endpoints.js';

/** A replaced signing secret that still signs, alongside the present one. */
interface FormerSecret {
  readonly sealed: string;
  /** ISO 8601, UTC. */
  readonly expires_at: string;
}

/** Where one endpoint's deliveries go, as of an event. */
export interface EndpointSnapshot {
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

/** The snapshot after an event of its endpoint; undefined for an endpoint that was never registered. */
export function evolveSnapshot(
  snapshot: EndpointSnapshot | undefined,
  event: WebhookEndpointEvent,
): EndpointSnapshot | undefined {
  if (event.type === 'webhook_endpoint.registered.v1') {
    const { endpoint_id, merchant_id, url, event_types, sealed_signing_secret, created_at } = event.data;
    const fresh = { former_secrets: [], status: 'enabled', failures_since: created_at } as const;
    return { endpoint_id, merchant_id, url, event_types, sealed_signing_secret, ...fresh };
  }
  if (!snapshot) return undefined;
  switch (event.type) {
    case 'webhook_endpoint.updated.v1':
      return { ...snapshot, url: event.data.url, event_types: event.data.event_types };
    case 'webhook_endpoint.enabled.v1':
      return { ...snapshot, status: 'enabled', failures_since: event.data.at };
    case 'webhook_endpoint.disabled.v1':
      return { ...snapshot, status: 'disabled' };
    case 'webhook_endpoint.secret_rotated.v1': {
      const { sealed_signing_secret, former_expires_at, at } = event.data;
      const replaced = { sealed: snapshot.sealed_signing_secret, expires_at: former_expires_at };
      const former_secrets = [replaced, ...snapshot.former_secrets].filter(
        ({ expires_at }) => expires_at > at,
      );
      return { ...snapshot, sealed_signing_secret, former_secrets };
    }
    case 'webhook_endpoint.deleted.v1':
      return { ...snapshot, status: 'deleted' };
    default:
      event satisfies never;
      return snapshot;
  }
}
