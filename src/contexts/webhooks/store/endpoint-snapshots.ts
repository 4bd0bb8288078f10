import type { PoolClient } from 'pg';
import type { RecordedEvent } from '../../../platform/event-store/port.js';
import { subscriptionName } from '../../../platform/projections/projection.js';
import type { EndpointSnapshot } from '../domain/endpoint-snapshot.js';

/** The subscription at whose checkpoint the rows are. */
export const DELIVERIES_SAGA = subscriptionName('webhooks.deliveries');

/** A row of `webhooks.endpoint_snapshots`: as of the event at `position`. Its times are timestamps of PostgreSQL. */
export type EndpointSnapshotRow = EndpointSnapshot & { readonly position: string };

/**
 * The endpoints of every merchant that the events name. A merchant may have deleted a hundred thousand: of those only
 * the ones that an event names, so that one seen again does not bring its endpoint back.
 */
export async function endpointSnapshotsOf(
  events: readonly RecordedEvent[],
  tx: PoolClient,
): Promise<EndpointSnapshotRow[]> {
  const named = (field: string): unknown[] => [
    ...new Set(events.map(({ data }) => data[field]).filter((id) => id !== undefined)),
  ];
  const snapshots = (where: string): string =>
    `select endpoint_id, merchant_id, url, description, event_types, sealed_signing_secret, former_secrets, status,
       disabled_cause, disabled_at::text, failures_since::text, created_at::text, updated_at::text, position
     from webhooks.endpoint_snapshots where ${where}`;
  const found = await tx.query<EndpointSnapshotRow>(
    `${snapshots(`merchant_id = any($1::uuid[]) and status <> 'deleted'`)}
     union all ${snapshots(`endpoint_id = any($2::uuid[]) and status = 'deleted'`)}`,
    [named('merchant_id'), named('endpoint_id')],
  );
  return found.rows;
}

export async function saveEndpointSnapshots(
  snapshots: readonly EndpointSnapshotRow[],
  tx: PoolClient,
): Promise<void> {
  if (snapshots.length === 0) return;
  await tx.query(
    `insert into webhooks.endpoint_snapshots (endpoint_id, merchant_id, url, description, event_types,
       sealed_signing_secret, former_secrets, status, disabled_cause, disabled_at, failures_since, created_at,
       updated_at, position)
     select endpoint_id, merchant_id, url, description, nullif(event_types, 'null'),
       sealed_signing_secret, former_secrets, status, disabled_cause, disabled_at, failures_since, created_at,
       updated_at, position
     from jsonb_populate_recordset(null::webhooks.endpoint_snapshots, $1)
     on conflict (endpoint_id) do update set url = excluded.url, description = excluded.description,
       event_types = excluded.event_types, sealed_signing_secret = excluded.sealed_signing_secret,
       former_secrets = excluded.former_secrets, status = excluded.status, disabled_cause = excluded.disabled_cause,
       disabled_at = excluded.disabled_at, failures_since = excluded.failures_since,
       updated_at = excluded.updated_at, position = excluded.position`,
    [JSON.stringify(snapshots)],
  );
}
