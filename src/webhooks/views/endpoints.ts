import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { comparePositions, type RecordedEvent } from '../../event-store/port.js';
import type { SubscriptionDefinition } from '../../event-store/projection.js';
import { Database } from '../../platform/database/database.js';
import type { EndpointJson } from '../domain/endpoint-json.js';
import { WEBHOOK_ENDPOINT_EVENTS, type WebhookEndpointEvent } from '../domain/webhook-endpoints.js';

export const ENDPOINTS_VIEW = 'webhooks.views';

interface Row {
  readonly endpoint_id: string;
  readonly merchant_id: string;
  readonly url: string;
  readonly description: string | null;
  readonly event_types: readonly string[] | null;
  readonly status: 'enabled' | 'disabled' | 'deleted';
  readonly disabled_cause: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly position: string;
}

/** Which endpoints does a merchant have? */
export const endpointsProjection: SubscriptionDefinition = {
  name: ENDPOINTS_VIEW,
  events: WEBHOOK_ENDPOINT_EVENTS,
  async apply(events, tx) {
    const rows = new Map((await load(events, tx)).map((row) => [row.endpoint_id, row]));
    for (const event of events) {
      const registryEvent = event as unknown as WebhookEndpointEvent;
      const before = rows.get(registryEvent.data.endpoint_id);
      if (before && comparePositions(event.position, before.position) <= 0) continue;
      const row = evolve(before, registryEvent, event.position);
      if (row) rows.set(row.endpoint_id, row);
    }
    await save([...rows.values()], tx);
  },
  async reset(tx) {
    await tx.query('truncate webhooks.endpoints');
  },
};

function evolve(row: Row | undefined, event: WebhookEndpointEvent, position: string): Row | undefined {
  if (event.type === 'webhook_endpoint.registered.v1') {
    const { endpoint_id, merchant_id, url, description, event_types, created_at } = event.data;
    return {
      ...{
        endpoint_id,
        merchant_id,
        url,
        description,
        event_types,
        created_at,
        updated_at: created_at,
        position,
      },
      status: 'enabled',
      disabled_cause: null,
    };
  }
  if (!row) return undefined;
  switch (event.type) {
    case 'webhook_endpoint.updated.v1': {
      const { url, description, event_types, updated_at } = event.data;
      return { ...row, url, description, event_types, updated_at, position };
    }
    case 'webhook_endpoint.enabled.v1':
      return { ...row, status: 'enabled', disabled_cause: null, updated_at: event.data.at, position };
    case 'webhook_endpoint.disabled.v1':
      return {
        ...row,
        status: 'disabled',
        disabled_cause: event.data.cause,
        updated_at: event.data.at,
        position,
      };
    case 'webhook_endpoint.deleted.v1':
      return { ...row, status: 'deleted', position };
    default:
      return event satisfies never;
  }
}

async function load(events: readonly RecordedEvent[], tx: PoolClient): Promise<Row[]> {
  const ids = [...new Set(events.map((event) => event.data['endpoint_id']))];
  const found = await tx.query<Row>('select * from webhooks.endpoints where endpoint_id = any($1::uuid[])', [
    ids,
  ]);
  return found.rows;
}

async function save(rows: readonly Row[], tx: PoolClient): Promise<void> {
  await tx.query(
    `insert into webhooks.endpoints (endpoint_id, merchant_id, url, description, event_types, status, disabled_cause,
       created_at, updated_at, position)
     select endpoint_id, merchant_id, url, description, nullif(event_types, 'null'), status, disabled_cause,
       created_at, updated_at, position
     from jsonb_to_recordset($1) as endpoint (endpoint_id uuid, merchant_id uuid, url text, description text,
       event_types jsonb, status text, disabled_cause text, created_at text, updated_at text, position text)
     on conflict (endpoint_id) do update set url = excluded.url, description = excluded.description,
       event_types = excluded.event_types, status = excluded.status, disabled_cause = excluded.disabled_cause,
       updated_at = excluded.updated_at, position = excluded.position`,
    [JSON.stringify(rows)],
  );
}

const COLUMNS = 'endpoint_id as id, url, description, status, created_at, updated_at, event_types';

@Injectable()
export class EndpointsView {
  constructor(private readonly database: Database) {}

  /** The merchant's endpoints, oldest first. */
  list(merchantId: string): Promise<EndpointJson[]> {
    return this.database.query<EndpointJson & { [column: string]: unknown }>(
      `select ${COLUMNS} from webhooks.endpoints where merchant_id = $1 and status <> 'deleted'
       order by created_at, endpoint_id`,
      [merchantId],
    );
  }

  /** One endpoint of the merchant; null when there is none. */
  async find(merchantId: string, id: string): Promise<EndpointJson | null> {
    const rows = await this.database.query<EndpointJson & { [column: string]: unknown }>(
      `select ${COLUMNS} from webhooks.endpoints where merchant_id = $1 and endpoint_id = $2 and status <> 'deleted'`,
      [merchantId, id],
    );
    return rows[0] ?? null;
  }
}
