import { deriveId } from '../../../kernel/ids.js';
import type { Context, Publication } from '../../../platform/context.js';
import type { EventCodec } from '../../../platform/event-store/event-codec.js';
import { comparePositions, type RecordedEvent } from '../../../platform/event-store/port.js';
import { withJsonText } from '../../../platform/json-text/json-text.js';
import { columnInWords, type TableComparison } from '../../../platform/projections/compare-tables.js';
import { NameTable } from '../domain/name-table.js';
import type { AuditedTables, DeliveryRow } from '../store/audited-tables.js';
import type { TableCheck } from './verify.js';

/** Checkpoint and table of the deliveries of webhooks. */
export const DELIVERIES = 'webhooks.deliveries';
const TEST_REQUESTED = 'webhook_endpoint.test_requested.v1';
/** What changes who is told of what. */
const REGISTERED = 'webhook_endpoint.registered.v1';
const UPDATED = 'webhook_endpoint.updated.v1';
const DELETED = 'webhook_endpoint.deleted.v1';
const OF_ENDPOINTS: ReadonlySet<string> = new Set([REGISTERED, UPDATED, DELETED, TEST_REQUESTED]);
const COLUMNS = ['endpoint_id', 'merchant_id', 'type', 'is_test', 'body'] as const;
/** Rows with their bodies in memory. */
const HELD_AT_ONCE = 500;
/** Told in words. */
const MOST = 20;

/** Types that an endpoint wants; null means all. */
type Wanted = readonly string[] | null;

/** What a delivery tells, before it has an id. */
interface Told {
  readonly type: string;
  readonly occurredAt: string;
  /** JSON text. */
  readonly data: string;
}

/**
 * Holds each delivery that is kept against the event that it tells: what is fixed when it is made follows from the event
 * and the endpoints at its place in the log, by code of the audit's own. Deliveries that are gone are not looked for.
 */
export class DeliveriesCheck implements TableCheck {
  readonly name = DELIVERIES;
  private readonly publications: ReadonlyMap<string, Publication>;
  /** Endpoints that are not deleted, by merchant. */
  private readonly endpoints = new Map<string, Map<string, Wanted>>();
  /** Ids of the deliveries that are kept, and that an event tells. */
  private readonly found = new NameTable();
  private readonly first: string[] = [];
  private different = 0;

  /** `position`: how far deliveries were made, by the snapshot of the tables. */
  constructor(
    private readonly tables: Pick<AuditedTables, 'deliveries' | 'deliveryIds'>,
    private readonly codec: EventCodec,
    private readonly rules: { readonly contexts: readonly Context[]; readonly position: string | null },
  ) {
    this.publications = new Map(rules.contexts.flatMap(({ publishes = {} }) => Object.entries(publishes)));
  }

  async add(page: readonly RecordedEvent[]): Promise<void> {
    const wanted = page.filter(
      ({ type, position }) =>
        this.isOfDeliveries(this.codec.currentName(type)) &&
        comparePositions(position, this.rules.position) <= 0,
    );
    let rows: DeliveryRow[] = [];
    for (const event of await this.codec.decode(wanted)) {
      rows.push(...this.toldOf(event));
      if (rows.length < HELD_AT_ONCE) continue;
      await this.hold(rows);
      rows = [];
    }
    await this.hold(rows);
  }

  async compare(): Promise<ReadonlyMap<string, TableComparison>> {
    let rows = 0;
    let strays = 0;
    await this.tables.deliveryIds((id) => {
      rows += 1;
      if (this.found.has(id)) return;
      strays += 1;
      this.differs(id, 'a row, the events say that there is none');
    });
    // Whoever makes up an id that shares its bits with a true one hides it from the table of names, not from the count.
    const hidden = rows - strays - this.found.size;
    if (hidden > 0) this.differs(`${hidden} of its rows`, 'the events say that there are none');
    const { different, first } = this;
    return new Map([[DELIVERIES, { rows, different, first }]]);
  }

  private isOfDeliveries(type: string): boolean {
    return this.publications.has(type) || OF_ENDPOINTS.has(type);
  }

  /** The deliveries that an event gives rise to, as the endpoints are by now. */
  private toldOf(event: RecordedEvent): readonly DeliveryRow[] {
    const { id, type, data } = event;
    const merchant = String(data['merchant_id']);
    const endpoints = this.endpoints.get(merchant) ?? new Map<string, Wanted>();
    const endpoint = String(data['endpoint_id']);
    const publication = this.publications.get(type);
    if (publication === undefined && type !== TEST_REQUESTED) {
      if (type === DELETED) endpoints.delete(endpoint);
      else if (type === REGISTERED || endpoints.has(endpoint))
        endpoints.set(endpoint, data['event_types'] as Wanted);
      this.endpoints.set(merchant, endpoints);
      return [];
    }
    if (endpoints.size === 0) return [];
    if (publication === undefined) {
      const place = { delivery: String(data['delivery_id']), endpoint, merchant };
      return endpoints.has(endpoint) ? [rowOf(place, toldOfTest(data), true)] : [];
    }
    const { occurredAt, fields, text } = publication.read(data);
    const json = text === undefined ? JSON.stringify(fields) : withJsonText(fields, ...text);
    const told = { type: publication.type, occurredAt, data: json };
    return [...endpoints]
      .filter(([, types]) => types === null || types.includes(told.type))
      .map(([each]) => rowOf({ delivery: deriveId(id, each), endpoint: each, merchant }, told, false));
  }

  private async hold(rows: readonly DeliveryRow[]): Promise<void> {
    if (rows.length === 0) return;
    const kept = await this.tables.deliveries(rows.map(({ delivery_id: id }) => id));
    const made = new Map(rows.map((row) => [row.delivery_id, row]));
    for (const row of kept) {
      const { delivery_id: id } = row;
      this.found.add(id);
      const events = made.get(id)!;
      const others = COLUMNS.filter((name) => row[name] !== events[name]);
      if (others.length > 0)
        this.differs(id, others.map((name) => columnInWords(name, row[name], events[name])).join('; '));
    }
  }

  private differs(what: string, how: string): void {
    this.different += 1;
    if (this.first.length < MOST) this.first.push(`${DELIVERIES} ${what}: ${how}`);
  }
}

/** The body is the exact text of contract.md 13.1; ids stand in the columns as PostgreSQL writes them. */
function rowOf(
  place: { readonly delivery: string; readonly endpoint: string; readonly merchant: string },
  { type, occurredAt, data }: Told,
  isTest: boolean,
): DeliveryRow {
  const head = { id: place.delivery, type, occurred_at: occurredAt, merchant_id: place.merchant };
  return {
    delivery_id: place.delivery.toLowerCase(),
    endpoint_id: place.endpoint.toLowerCase(),
    merchant_id: place.merchant.toLowerCase(),
    ...{ type, is_test: String(isTest), body: withJsonText(head, 'data', data) },
  };
}

function toldOfTest(data: RecordedEvent['data']): Told {
  const fields = { webhook_endpoint_id: data['endpoint_id'], message: data['message'] };
  return {
    type: 'webhook_endpoint.test',
    occurredAt: String(data['occurred_at']),
    data: JSON.stringify(fields),
  };
}
