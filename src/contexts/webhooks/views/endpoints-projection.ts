import type { RecordedEvent } from '../../../platform/event-store/port.js';
import {
  subscriptionName,
  subscriptionOf,
  type Transaction,
} from '../../../platform/projections/projection.js';
import { WEBHOOK_ENDPOINT_EVENTS, type WebhookEndpointEvent } from '../domain/webhook-endpoints.js';

export const ENDPOINTS_VIEW = subscriptionName('webhooks.endpoints');

type RecordedEndpointEvent = Omit<RecordedEvent, 'type' | 'data'> & WebhookEndpointEvent;

/** A row as PostgreSQL writes it in JSON. */
interface Row {
  readonly endpoint_id: string;
  readonly merchant_id: string;
  readonly url: string;
  readonly description: string | null;
  readonly event_types: readonly string[] | null;
  readonly status: 'enabled' | 'disabled' | 'deleted';
  readonly disabled_cause: string | null;
  readonly disabled_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly revision: number;
}

const COLUMNS =
  'endpoint_id, merchant_id, url, description, event_types, status, disabled_cause, disabled_at, created_at, updated_at, revision';

/** The endpoints of all merchants, as operators list them. */
export const endpointsProjection = subscriptionOf<WebhookEndpointEvent>({
  name: ENDPOINTS_VIEW,
  events: WEBHOOK_ENDPOINT_EVENTS,
  async apply(events, tx, schema = 'webhooks') {
    const rows = await rowsOf(events as readonly RecordedEndpointEvent[], tx, schema);
    const changed = new Map<string, Row>();
    for (const event of events as readonly RecordedEndpointEvent[]) {
      const id = event.data.endpoint_id;
      const before = rows.get(id);
      if (before !== undefined && event.revision <= before.revision) continue;
      const after = evolve(before, event);
      if (after === undefined) continue;
      rows.set(id, after);
      changed.set(id, after);
    }
    if (changed.size === 0) return;
    await tx.query(
      `insert into ${schema}.endpoints (${COLUMNS})
       select endpoint_id, merchant_id, url, description, nullif(event_types, 'null'), status, disabled_cause,
         disabled_at, created_at, updated_at, revision
       from jsonb_populate_recordset(null::${schema}.endpoints, $1)
       on conflict (endpoint_id) do update set url = excluded.url, description = excluded.description,
         event_types = excluded.event_types, status = excluded.status, disabled_cause = excluded.disabled_cause,
         disabled_at = excluded.disabled_at, updated_at = excluded.updated_at, revision = excluded.revision`,
      [JSON.stringify([...changed.values()])],
    );
  },
  tables: { schema: 'webhooks', names: ['endpoints'] },
});

async function rowsOf(
  events: readonly RecordedEndpointEvent[],
  tx: Transaction,
  schema: string,
): Promise<Map<string, Row>> {
  const { rows } = await tx.query<{ row: Row }>(
    `select to_jsonb(endpoint) as row from ${schema}.endpoints endpoint where endpoint_id = any($1::uuid[])`,
    [[...new Set(events.map(({ data }) => data.endpoint_id))]],
  );
  return new Map(rows.map(({ row }) => [row.endpoint_id, row]));
}

/** Undefined for an endpoint that was never registered. */
function evolve(before: Row | undefined, event: RecordedEndpointEvent): Row | undefined {
  const revision = Number(event.revision);
  if (event.type === 'webhook_endpoint.registered.v1') {
    const { sealed_signing_secret: _, created_at, ...fields } = event.data;
    const enabled = { status: 'enabled', disabled_cause: null, disabled_at: null } as const;
    return { ...fields, ...enabled, created_at, updated_at: created_at, revision };
  }
  if (before === undefined) return undefined;
  switch (event.type) {
    case 'webhook_endpoint.updated.v1': {
      const { url, description, event_types, updated_at } = event.data;
      return { ...before, url, description, event_types, updated_at, revision };
    }
    case 'webhook_endpoint.enabled.v1': {
      const enabled = { status: 'enabled', disabled_cause: null, disabled_at: null } as const;
      return { ...before, ...enabled, updated_at: event.data.at, revision };
    }
    case 'webhook_endpoint.disabled.v1': {
      const { cause: disabled_cause, at } = event.data;
      return { ...before, status: 'disabled', disabled_cause, disabled_at: at, updated_at: at, revision };
    }
    case 'webhook_endpoint.secret_rotated.v1':
      return { ...before, updated_at: event.data.at, revision };
    case 'webhook_endpoint.deleted.v1':
      return { ...before, status: 'deleted', updated_at: event.data.at, revision };
    default:
      event satisfies never;
      return before;
  }
}
