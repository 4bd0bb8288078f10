import { Inject, Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { comparePositions, type RecordedEvent } from '../../../platform/event-store/port.js';
import type { SubscriptionDefinition } from '../../../platform/projections/projection.js';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { Database } from '../../../platform/postgres/database.js';
import type { EndpointJson } from '../domain/endpoint-json.js';
import { WEBHOOK_ENDPOINT_EVENTS, type WebhookEndpointEvent } from '../domain/webhook-endpoints.js';
import { failureCount } from './counted-failures.js';

export const ENDPOINTS_VIEW = 'webhooks.views';

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
  readonly position: string;
}

/** Which endpoints does a merchant have? */
export const endpointsProjection: SubscriptionDefinition = {
  name: ENDPOINTS_VIEW,
  events: WEBHOOK_ENDPOINT_EVENTS,
  async apply(events, tx, schema = 'webhooks') {
    const rows = new Map((await load(events, tx, schema)).map((row) => [row.endpoint_id, row]));
    for (const event of events) {
      const registryEvent = event as unknown as WebhookEndpointEvent;
      const before = rows.get(registryEvent.data.endpoint_id);
      if (before && comparePositions(event.position, before.position) <= 0) continue;
      const row = evolveEndpoint(before, registryEvent, event.position);
      if (row) rows.set(row.endpoint_id, row);
    }
    await save([...rows.values()], tx, schema);
  },
  tables: { schema: 'webhooks', names: ['endpoints'] },
};

/** Pure: the row after an event of its endpoint. */
export function evolveEndpoint(
  row: Row | undefined,
  event: WebhookEndpointEvent,
  position: string,
): Row | undefined {
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
      disabled_at: null,
    };
  }
  if (!row) return undefined;
  switch (event.type) {
    case 'webhook_endpoint.updated.v1': {
      const { url, description, event_types, updated_at } = event.data;
      return { ...row, url, description, event_types, updated_at, position };
    }
    case 'webhook_endpoint.enabled.v1':
      return {
        ...row,
        ...{ status: 'enabled', disabled_cause: null, disabled_at: null },
        updated_at: event.data.at,
        position,
      };
    case 'webhook_endpoint.disabled.v1':
      return {
        ...row,
        status: 'disabled',
        disabled_cause: event.data.cause,
        disabled_at: event.data.at,
        updated_at: event.data.at,
        position,
      };
    case 'webhook_endpoint.secret_rotated.v1':
      return { ...row, updated_at: event.data.at, position };
    case 'webhook_endpoint.deleted.v1':
      return { ...row, status: 'deleted', position };
    default:
      event satisfies never;
      return row;
  }
}

async function load(events: readonly RecordedEvent[], tx: PoolClient, schema: string): Promise<Row[]> {
  const ids = [...new Set(events.map((event) => event.data['endpoint_id']))];
  const found = await tx.query<Row>(`select * from ${schema}.endpoints where endpoint_id = any($1::uuid[])`, [
    ids,
  ]);
  return found.rows;
}

async function save(rows: readonly Row[], tx: PoolClient, schema: string): Promise<void> {
  await tx.query(
    `insert into ${schema}.endpoints (endpoint_id, merchant_id, url, description, event_types, status, disabled_cause,
       disabled_at, created_at, updated_at, position)
     select endpoint_id, merchant_id, url, description, nullif(event_types, 'null'), status, disabled_cause,
       disabled_at, created_at, updated_at, position
     from jsonb_to_recordset($1) as endpoint (endpoint_id uuid, merchant_id uuid, url text, description text,
       event_types jsonb, status text, disabled_cause text, disabled_at text, created_at text, updated_at text, position text)
     on conflict (endpoint_id) do update set url = excluded.url, description = excluded.description,
       event_types = excluded.event_types, status = excluded.status, disabled_cause = excluded.disabled_cause,
       disabled_at = excluded.disabled_at, updated_at = excluded.updated_at, position = excluded.position`,
    [JSON.stringify(rows)],
  );
}

const ENDPOINTS = `
  select endpoint.endpoint_id as id, endpoint.url, endpoint.description, endpoint.status, endpoint.created_at,
    endpoint.updated_at, endpoint.event_types, ${failureCount('$1', '$2')} as failure_count,
    endpoint.disabled_cause, endpoint.disabled_at
  from webhooks.endpoints endpoint left join webhooks.lanes lane using (endpoint_id)
  where endpoint.status <> 'deleted'`;

type Found = EndpointJson & { [column: string]: unknown };

@Injectable()
export class EndpointsView {
  constructor(
    private readonly database: Database,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Pick<Config, 'webhookDisableWindowSeconds'>,
  ) {}

  /** The merchant's endpoints, oldest first. */
  list(merchantId: string): Promise<EndpointJson[]> {
    return this.database.query<Found>(
      `${ENDPOINTS} and endpoint.merchant_id = $3 order by endpoint.created_at, endpoint.endpoint_id`,
      [...this.window(), merchantId],
    );
  }

  /** One endpoint of the merchant; null when there is none. */
  async find(merchantId: string, id: string): Promise<EndpointJson | null> {
    const rows = await this.database.query<Found>(
      `${ENDPOINTS} and endpoint.merchant_id = $3 and endpoint.endpoint_id = $4`,
      [...this.window(), merchantId, id],
    );
    return rows[0] ?? null;
  }

  /** Failed attempts of an endpoint that count now, as the answers show them. */
  async failureCount(id: string): Promise<number> {
    const rows = await this.database.query<{ failures: number }>(
      `select ${failureCount('$1', '$2')} as failures from webhooks.lanes lane where endpoint_id = $3`,
      [...this.window(), id],
    );
    return rows[0]?.failures ?? 0;
  }

  private window(): [Date, number] {
    return [this.clock.now(), this.config.webhookDisableWindowSeconds];
  }
}
