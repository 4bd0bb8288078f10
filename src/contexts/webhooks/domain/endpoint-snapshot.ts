import type { DisableCause, EndpointStatus, WebhookEndpointEvent } from './webhook-endpoints.js';

/** How old the state of an endpoint may be when something is sent to it. */
export const DESTINATION_FRESH_MS = 20;

/** A replaced signing secret that still signs, alongside the present one. */
interface FormerSecret {
  readonly sealed: string;
  /** ISO 8601, UTC. */
  readonly expires_at: string;
}

/** Where one endpoint's deliveries go and what lists display of it, as of an event. Times are ISO 8601, UTC. */
export interface EndpointSnapshot {
  readonly endpoint_id: string;
  readonly merchant_id: string;
  readonly url: string;
  readonly description: string | null;
  readonly event_types: readonly string[] | null;
  readonly sealed_signing_secret: string;
  /** Newest first. */
  readonly former_secrets: readonly FormerSecret[];
  readonly status: EndpointStatus | 'deleted';
  readonly disabled_cause: DisableCause | null;
  readonly disabled_at: string | null;
  /** Failed attempts that began later count towards automatic disabling. */
  readonly failures_since: string;
  readonly created_at: string;
  readonly updated_at: string;
}

const ENABLED = { status: 'enabled', disabled_cause: null, disabled_at: null } as const;

/** The snapshot after an event of its endpoint; undefined for an endpoint that was never registered. */
export function evolveSnapshot(
  snapshot: EndpointSnapshot | undefined,
  event: WebhookEndpointEvent,
): EndpointSnapshot | undefined {
  if (event.type === 'webhook_endpoint.registered.v1') {
    const { created_at } = event.data;
    return {
      ...event.data,
      ...ENABLED,
      former_secrets: [],
      failures_since: created_at,
      updated_at: created_at,
    };
  }
  if (!snapshot) return undefined;
  switch (event.type) {
    case 'webhook_endpoint.updated.v1':
      return { ...snapshot, ...event.data };
    case 'webhook_endpoint.enabled.v1':
      return { ...snapshot, ...ENABLED, failures_since: event.data.at, updated_at: event.data.at };
    case 'webhook_endpoint.disabled.v1': {
      const { cause: disabled_cause, at } = event.data;
      return { ...snapshot, status: 'disabled', disabled_cause, disabled_at: at, updated_at: at };
    }
    case 'webhook_endpoint.secret_rotated.v1': {
      const { sealed_signing_secret, former_expires_at, at } = event.data;
      const replaced = { sealed: snapshot.sealed_signing_secret, expires_at: former_expires_at };
      const former_secrets = [replaced, ...snapshot.former_secrets].filter(
        ({ expires_at }) => expires_at > at,
      );
      return { ...snapshot, sealed_signing_secret, former_secrets, updated_at: at };
    }
    case 'webhook_endpoint.deleted.v1':
      return { ...snapshot, status: 'deleted', updated_at: event.data.at };
    default:
      event satisfies never;
      return snapshot;
  }
}
