import type { PoolClient } from 'pg';
import { comparePositions, type RecordedEvent } from '../../../platform/event-store/port.js';
import type { WebhookEndpointEvent } from '../domain/webhook-endpoints.js';

/** A replaced signing secret that still signs, beside the present one. */
export interface FormerSecret {
  readonly sealed: string;
  /** ISO 8601, UTC. */
  readonly expires_at: string;
}

/** Where one endpoint's deliveries go, as of an event: a row of `webhooks.lanes`. */
export interface Lane {
  readonly endpoint_id: string;
  readonly merchant_id: string;
  readonly url: string;
  readonly event_types: readonly string[] | null;
  readonly sealed_signing_secret: string;
  /** Newest first. */
  readonly former_secrets: readonly FormerSecret[];
  readonly status: 'enabled' | 'disabled' | 'deleted';
  /** A timestamp of PostgreSQL: failed attempts that began later count (contract.md 15.1). */
  readonly failures_since: string;
  readonly position: string;
}

/** Pure: the lane after an event of its endpoint; null when the event changes nothing, because it was seen before. */
export function evolveLane(
  lane: Lane | undefined,
  event: WebhookEndpointEvent,
  position: string,
): Lane | null {
  if (lane && comparePositions(lane.position, position) >= 0) return null;
  if (event.type === 'webhook_endpoint.registered.v1') {
    const { endpoint_id, merchant_id, url, event_types, sealed_signing_secret, created_at } = event.data;
    return {
      endpoint_id,
      merchant_id,
      url,
      event_types,
      sealed_signing_secret,
      former_secrets: [],
      status: 'enabled',
      failures_since: created_at,
      position,
    };
  }
  if (!lane) return null;
  switch (event.type) {
    case 'webhook_endpoint.updated.v1':
      return { ...lane, url: event.data.url, event_types: event.data.event_types, position };
    case 'webhook_endpoint.enabled.v1':
      return { ...lane, status: 'enabled', failures_since: event.data.at, position };
    case 'webhook_endpoint.disabled.v1':
      return { ...lane, status: 'disabled', position };
    case 'webhook_endpoint.secret_rotated.v1': {
      const { sealed_signing_secret, former_expires_at, at } = event.data;
      const replaced = { sealed: lane.sealed_signing_secret, expires_at: former_expires_at };
      const former_secrets = [replaced, ...lane.former_secrets].filter(({ expires_at }) => expires_at > at);
      return { ...lane, sealed_signing_secret, former_secrets, position };
    }
    case 'webhook_endpoint.deleted.v1':
      return { ...lane, status: 'deleted', position };
    default:
      event satisfies never;
      return null;
  }
}

/**
 * The lanes of every merchant that the events speak of. A merchant may have deleted a hundred thousand: of those only
 * the ones that an event names, so that one seen again does not bring its endpoint back.
 */
export async function lanesOf(events: readonly RecordedEvent[], tx: PoolClient): Promise<Lane[]> {
  const named = (field: string): unknown[] => [
    ...new Set(events.map(({ data }) => data[field]).filter((id) => id !== undefined)),
  ];
  const lanes = (where: string): string =>
    `select endpoint_id, merchant_id, url, event_types, sealed_signing_secret, former_secrets, status,
       failures_since::text, position
     from webhooks.lanes where ${where}`;
  const found = await tx.query<Lane>(
    `${lanes(`merchant_id = any($1::uuid[]) and status <> 'deleted'`)}
     union all ${lanes(`endpoint_id = any($2::uuid[]) and status = 'deleted'`)}`,
    [named('merchant_id'), named('endpoint_id')],
  );
  return found.rows;
}

export async function saveLanes(lanes: readonly Lane[], tx: PoolClient): Promise<void> {
  if (lanes.length === 0) return;
  await tx.query(
    `insert into webhooks.lanes (endpoint_id, merchant_id, url, event_types, sealed_signing_secret, former_secrets,
       status, failures_since, position)
     select endpoint_id, merchant_id, url, nullif(event_types, 'null'), sealed_signing_secret, former_secrets,
       status, failures_since, position
     from jsonb_to_recordset($1) as lane (endpoint_id uuid, merchant_id uuid, url text, event_types jsonb,
       sealed_signing_secret text, former_secrets jsonb, status text, failures_since timestamptz, position text)
     on conflict (endpoint_id) do update set url = excluded.url, event_types = excluded.event_types,
       sealed_signing_secret = excluded.sealed_signing_secret, former_secrets = excluded.former_secrets,
       status = excluded.status, failures_since = excluded.failures_since, position = excluded.position`,
    [JSON.stringify(lanes)],
  );
}
