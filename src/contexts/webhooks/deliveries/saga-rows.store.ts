import type { PoolClient } from 'pg';
import type { RecordedEvent } from '../../../platform/event-store/port.js';
import { scheduleWork } from '../../../platform/jobs/work-items.js';
import { columnArrays } from '../../../platform/postgres/batches.js';
import type { Endpoint } from '../endpoints/webhook-endpoints.js';
import type { WebhookRecoveryRequested } from '../recoveries/webhook-requests.js';
import type { NewDelivery } from '../endpoints/signing-secrets.store.js';

/** An endpoint as of the event at `position`. The times are timestamps of PostgreSQL. */
export type EndpointRow = Endpoint & { readonly position: string };

/** The columns of an endpoint without its id and `failures_since`. */
export const ENDPOINT_COLUMNS = [
  'merchant_id',
  'url',
  'description',
  'event_types',
  'sealed_signing_secret',
  'former_secrets',
  'status',
  'disabled_cause',
  'disabled_at',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof Endpoint)[];

export interface DeliveryRow extends NewDelivery {
  readonly mac: string;
  readonly traceparent: string | null;
  /** `dropped` if the endpoint was disabled at the time of the event. A resend or recovery can send it. */
  readonly state: 'pending' | 'dropped';
}

const DELIVERY_COLUMNS = [
  'delivery_id',
  'endpoint_id',
  'merchant_id',
  'type',
  'body',
  'is_test',
  'mac',
  'traceparent',
  'state',
] as const satisfies readonly (keyof DeliveryRow)[];

export interface ResendRow {
  readonly delivery_id: string;
  readonly endpoint_id: string;
  readonly position: string;
}

/** The kind of work items that recover an endpoint. `key` is the endpoint and `share` the merchant. */
export const RECOVERY = 'webhooks.recovery';

export async function insertDeliveries(rows: readonly DeliveryRow[], tx: PoolClient): Promise<void> {
  if (rows.length === 0) return;
  await tx.query(
    `insert into webhooks.deliveries (${DELIVERY_COLUMNS.join()}, finished_at)
     select *, case when state = 'dropped' then clock_timestamp() end
     from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::bool[], $7::text[], $8::text[],
       $9::text[]) as created (${DELIVERY_COLUMNS.join()})
     on conflict (delivery_id) do nothing`,
    columnArrays(rows, ...DELIVERY_COLUMNS),
  );
}

/** The limit of dropped rows per statement. Dropping 500,000 at once delayed all deliveries for 20 s. */
export const DROPPED_AT_ONCE = 5000;

/** Drops up to DROPPED_AT_ONCE pending deliveries of deleted endpoints. Senders drop the rest when due. */
export async function dropDeliveries(endpointIds: readonly string[], tx: PoolClient): Promise<void> {
  if (endpointIds.length === 0) return;
  await tx.query(
    // Rows are locked in the order of senders and recoveries.
    `with pending as materialized (
       select delivery_id from webhooks.deliveries
       where delivery_id = any(array(
           select delivery_id from webhooks.deliveries
           where endpoint_id = any($1::uuid[]) and state = 'pending' and leased_by is null limit ${DROPPED_AT_ONCE}))
         and state = 'pending' and leased_by is null
       order by delivery_id for update)
     update webhooks.deliveries set state = 'dropped', finished_at = clock_timestamp()
     where delivery_id = any(array(select delivery_id from pending))`,
    [endpointIds],
  );
}

/** Begins a new round of attempts, due now. A delivery in flight gets a round only if its attempt fails. */
export async function resendDeliveries(rows: readonly ResendRow[], tx: PoolClient): Promise<void> {
  if (rows.length === 0) return;
  const last = new Map(rows.map((row) => [row.delivery_id, row.position]));
  await tx.query(
    // Rows are locked in the order of senders and recoveries.
    `with requested as materialized (
       select delivery_id, position from webhooks.deliveries
       join unnest($1::uuid[], $2::text[]) as requested (delivery_id, position) using (delivery_id)
       order by delivery_id for update of deliveries
     )
     update webhooks.deliveries delivery set state = 'pending', finished_at = null,
       due_at = case when leased_by is null then clock_timestamp() else due_at end,
       attempts_before = case when leased_by is null then attempts else attempts_before end,
       resend_requested = leased_by is not null,
       resent_position = requested.position
     from requested where delivery.delivery_id = requested.delivery_id and (resent_position is null or
       (length(resent_position), resent_position collate "C") < (length(requested.position), requested.position collate "C"))`,
    [[...last.keys()], [...last.values()]],
  );
}

/**
 * Returns the endpoints of all merchants in the events. Deleted endpoints, perhaps 100,000, are included
 * only if an event names them. A repeated event then finds its deleted endpoint and does not restore it.
 */
export async function loadEndpoints(
  events: readonly RecordedEvent[],
  tx: PoolClient,
): Promise<EndpointRow[]> {
  const named = (field: string): unknown[] => [
    ...new Set(events.map(({ data }) => data[field]).filter((id) => id !== undefined)),
  ];
  // Times are read as text, because one may be `-infinity`.
  const columns = ENDPOINT_COLUMNS.map((name) => (name.endsWith('_at') ? `${name}::text` : name)).join();
  const rows = (where: string): string =>
    `select endpoint_id, ${columns}, failures_since::text, position from webhooks.endpoint_snapshots where ${where}`;
  const found = await tx.query<EndpointRow>(
    `${rows(`merchant_id = any($1::uuid[]) and status <> 'deleted'`)}
     union all ${rows(`endpoint_id = any($2::uuid[]) and status = 'deleted'`)}`,
    [named('merchant_id'), named('endpoint_id')],
  );
  return found.rows;
}

export async function saveEndpoints(rows: readonly EndpointRow[], tx: PoolClient): Promise<void> {
  if (rows.length === 0) return;
  const columns = [...ENDPOINT_COLUMNS, 'failures_since', 'position'];
  await tx.query(
    `insert into webhooks.endpoint_snapshots (endpoint_id, ${columns.join()})
     select endpoint_id, ${columns.map((name) => (name === 'event_types' ? `nullif(event_types, 'null')` : name)).join()}
     from jsonb_populate_recordset(null::webhooks.endpoint_snapshots, $1)
     on conflict (endpoint_id) do update set ${columns.map((name) => `${name} = excluded.${name}`).join()}`,
    [JSON.stringify(rows)],
  );
}

export async function insertRecoveries(
  rows: readonly Omit<WebhookRecoveryRequested['data'], 'requested_at'>[],
  tx: PoolClient,
): Promise<void> {
  if (rows.length === 0) return;
  await tx.query(
    `insert into webhooks.recoveries (recovery_id, endpoint_id, merchant_id, since)
     select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::timestamptz[]) on conflict (recovery_id) do nothing`,
    columnArrays(rows, 'recovery_id', 'endpoint_id', 'merchant_id', 'since'),
  );
  await scheduleWork(
    tx,
    RECOVERY,
    rows.map(({ endpoint_id: key, merchant_id: share }) => ({ key, share })),
  );
}
