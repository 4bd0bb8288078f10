import { HOUR_MS } from '../../../kernel/clock.js';
import type { CheckedTables } from '../../../platform/context.js';
import { comparePositions, type RecordedEvent } from '../../../platform/event-store/port.js';
import { everyRow } from '../../../platform/postgres/batches.js';
import {
  describeColumn,
  DifferentRows,
  type TableComparison,
} from '../../../platform/projections/compare-tables.js';
import type { TableCheck } from '../../../platform/projections/table-check.js';
import type { WebhooksConfig } from '../webhooks.config.js';
import { DELIVERIES_SAGA, react, sagaEvents } from './deliveries.saga.js';
import { retentionMs } from './delivery-retention.processor.js';
import { publishedBy, type Published } from './published-events.service.js';
import { ENDPOINT_COLUMNS, type EndpointRow } from './saga-rows.store.js';
import { isAuthenticDelivery, type DeliveryWithMac } from '../endpoints/signing-secrets.store.js';

const ENDPOINTS = 'webhooks.endpoint_snapshots';
const USER_ERASED = 'user.erased.v1';
const HELD_AT_ONCE = 500;
/** The time before the end of the retention in which a delivery may be missing, because clocks differ. */
const MARGIN_MS = HOUR_MS;
const UUIDS = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g;

interface Created {
  readonly id: string;
  readonly body: string;
  readonly recordedAt: Date;
}

/** Checks the MACs of deliveries, and compares deliveries and endpoint rows with the events. */
export class DeliveriesCheck implements TableCheck {
  readonly name = DELIVERIES_SAGA;
  private readonly published: Published;
  private readonly names: ReadonlySet<string>;
  /** The endpoints that are not deleted, by merchant and id. */
  private readonly endpoints = new Map<string, Map<string, EndpointRow>>();
  /** The number of stored deliveries that an event created. */
  private found = 0;
  private readonly erased = new Set<string>();
  /** The missing deliveries within their retention, with the ids in each body, to find erased users. */
  private readonly missing: (readonly [id: string, named: readonly string[]])[] = [];
  private keptSince: number | null = null;
  private readonly differences = new DifferentRows();

  constructor(private readonly tables: CheckedTables<WebhooksConfig>) {
    this.published = publishedBy(tables.contexts);
    this.names = new Set(sagaEvents(this.published));
  }

  async add(page: readonly RecordedEvent[]): Promise<void> {
    const { codec, position: until } = this.tables;
    // Erasures after the checkpoint count too: rows are deleted before the checkpoint has passed the event.
    for (const { type, data } of page) if (type === USER_ERASED) this.erased.add(String(data['user_id']));
    const relevant = page.filter(
      ({ type, position }) =>
        this.names.has(codec.currentName(type)) && comparePositions(position, until) <= 0,
    );
    let created: Created[] = [];
    for (const event of await codec.decode(relevant)) {
      created.push(...this.createdBy(event));
      if (created.length < HELD_AT_ONCE) continue;
      await this.findCreated(created);
      created = [];
    }
    await this.findCreated(created);
  }

  async compare(): Promise<readonly TableComparison[]> {
    for (const [id, named] of this.missing)
      if (!named.some((each) => this.erased.has(each)))
        this.differs(id, 'no row, the events say that there is one');
    let rows = 0;
    const { sealer, query } = this.tables;
    await everyRow<DeliveryWithMac>(
      query,
      `select delivery_id, endpoint_id, merchant_id, type, is_test, body, mac from webhooks.deliveries
       where $1::uuid is null or delivery_id > $1 order by delivery_id limit $2`,
      ({ delivery_id }) => delivery_id,
      (row) => {
        rows += 1;
        if (sealer !== null && !isAuthenticDelivery(sealer, row))
          this.differs(row.delivery_id, 'the service did not create it: its MAC is wrong');
      },
    );
    const strays = rows - this.found;
    if (strays > 0) this.differs(`${strays} of its rows`, 'the events say that there are none');
    await this.compareEndpoints();
    return [this.differences.of(DELIVERIES_SAGA, rows)];
  }

  /** Reports endpoint rows that differ from the events. A changed row would redirect deliveries. */
  private async compareEndpoints(): Promise<void> {
    const expected = new Map([...this.endpoints.values()].flatMap((each) => [...each]));
    for (const row of await this.tables.query<EndpointRow>(
      `select endpoint_id, ${ENDPOINT_COLUMNS.join()} from ${ENDPOINTS}`,
      [],
    )) {
      const endpoint: Partial<EndpointRow> = expected.get(row.endpoint_id) ?? { status: 'deleted' };
      expected.delete(row.endpoint_id);
      const others = ENDPOINT_COLUMNS.filter((name) => name in endpoint)
        .map((name) => [name, toText(row[name]), toText(endpoint[name])] as const)
        .filter(([, is, events]) => is !== events);
      const how = others.map((each) => describeColumn(...each)).join('; ');
      if (others.length > 0) this.differs(row.endpoint_id, how, ENDPOINTS);
    }
    for (const id of expected.keys()) this.differs(id, 'no row, the events say that there is one', ENDPOINTS);
  }

  private createdBy(event: RecordedEvent): readonly Created[] {
    const { data, recordedAt } = event;
    const merchant = String(data['merchant_id']);
    const endpoints = this.endpoints.get(merchant) ?? new Map<string, EndpointRow>();
    const { endpoints: changed, deliveries } = react([event], [...endpoints.values()], this.published);
    for (const endpoint of changed)
      if (endpoint.status === 'deleted') endpoints.delete(endpoint.endpoint_id);
      else endpoints.set(endpoint.endpoint_id, endpoint);
    if (changed.length > 0) this.endpoints.set(merchant, endpoints);
    return deliveries.map(({ delivery_id, body }) => ({ id: delivery_id.toLowerCase(), body, recordedAt }));
  }

  private async findCreated(created: readonly Created[]): Promise<void> {
    if (created.length === 0) return;
    const rows = await this.tables.query<{ readonly id: string | null; readonly now: Date }>(
      `select delivery_id as id, now() from (select) here
       left join webhooks.deliveries on delivery_id = any($1::uuid[])`,
      [created.map(({ id }) => id)],
    );
    // The database's clock is used, as for the times of deliveries.
    this.keptSince ??= rows[0]!.now.getTime() - retentionMs(this.tables.config) + MARGIN_MS;
    const ids = new Set(rows.map(({ id }) => id));
    for (const { id, body, recordedAt } of created) {
      if (ids.has(id)) this.found += 1;
      else if (recordedAt.getTime() > this.keptSince) this.missing.push([id, body.match(UUIDS) ?? []]);
    }
  }

  private differs(what: string, how: string, table: string = DELIVERIES_SAGA): void {
    this.differences.add(`${table} ${what}: ${how}`);
  }
}

function toText(value: unknown): string | null {
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'string' || value === null ? value : (JSON.stringify(value) ?? null);
}
