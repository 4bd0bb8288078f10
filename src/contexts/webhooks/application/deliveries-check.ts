import { HOUR_MS } from '../../../kernel/clock.js';
import type { CheckedTables } from '../../../platform/context.js';
import { comparePositions, type RecordedEvent } from '../../../platform/event-store/port.js';
import {
  describeColumn,
  DifferentRows,
  type TableComparison,
} from '../../../platform/projections/compare-tables.js';
import type { TableCheck } from '../../../platform/projections/table-check.js';
import type { EndpointSnapshotRow } from '../store/endpoint-snapshots.js';
import { CheckedDeliveries } from '../store/stored-deliveries.js';
import type { WebhooksConfig } from '../settings.js';
import { DELIVERIES_SAGA, react, sagaEvents, type CreatedDelivery } from './deliveries-saga.js';
import { retentionSeconds } from './delivering/delivery-retention.js';
import { publishedBy, type Published } from './published-events.js';
import { isAuthenticDelivery } from './signing-secrets.js';

const SNAPSHOTS = 'webhooks.endpoint_snapshots';
const LANE_COLUMNS = [
  'merchant_id',
  'url',
  'description',
  'event_types',
  'status',
  'disabled_cause',
  'disabled_at',
  'created_at',
  'updated_at',
  'sealed_signing_secret',
  'former_secrets',
] as const;
const USER_ERASED = 'user.erased.v1';
const HELD_AT_ONCE = 500;
/** By which clocks may differ. */
const MARGIN_MS = HOUR_MS;
const UUIDS = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g;

interface Created {
  readonly delivery: CreatedDelivery;
  readonly recordedAt: Date;
}

/**
 * Checks the MAC of each delivery, and counts: none is missing whose time is not over, and there are no more than the events
 * create. Compares the snapshots of endpoints with the events.
 */
export class DeliveriesCheck implements TableCheck {
  readonly name = DELIVERIES_SAGA;
  private readonly published: Published;
  private readonly names: ReadonlySet<string>;
  private readonly stored: CheckedDeliveries;
  /** Endpoints that are not deleted, by merchant. */
  private readonly snapshots = new Map<string, Map<string, EndpointSnapshotRow>>();
  /** The number of deliveries that an event created and that are stored. */
  private found = 0;
  private readonly erased = new Set<string>();
  /** What is not stored, although its time is not over: ids that its body names. */
  private readonly missing: (readonly [id: string, named: readonly string[]])[] = [];
  private keptSince: number | null = null;
  private readonly differences = new DifferentRows();

  constructor(private readonly tables: CheckedTables<WebhooksConfig>) {
    this.published = publishedBy(tables.contexts);
    this.names = new Set(sagaEvents(this.published));
    this.stored = new CheckedDeliveries(tables);
  }

  async add(page: readonly RecordedEvent[]): Promise<void> {
    const { codec, position: until } = this.tables;
    // Anywhere in the log: an erasure deletes rows before the checkpoint has passed its event.
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

  async compare(): Promise<ReadonlyMap<string, TableComparison>> {
    for (const [id, named] of this.missing)
      if (!named.some((each) => this.erased.has(each)))
        this.differs(id, 'no row, the events say that there is one');
    let rows = 0;
    const { sealer } = this.tables;
    await this.stored.all((row) => {
      rows += 1;
      if (sealer !== null && !isAuthenticDelivery(sealer, row))
        this.differs(row.delivery_id, 'the service did not create it: its MAC is wrong');
    });
    const strays = rows - this.found;
    if (strays > 0) this.differs(`${strays} of its rows`, 'the events say that there are none');
    await this.compareLanes();
    return new Map([[DELIVERIES_SAGA, this.differences.of(rows)]]);
  }

  /** A row that differs redirects what is sent. */
  private async compareLanes(): Promise<void> {
    const expected = new Map([...this.snapshots.values()].flatMap((each) => [...each]));
    for (const row of await this.stored.snapshots()) {
      const snapshot = expected.get(row.endpoint_id);
      expected.delete(row.endpoint_id);
      const said: Partial<EndpointSnapshotRow> = snapshot ?? { status: 'deleted' };
      const others = LANE_COLUMNS.map(
        (name) => [name, textOf(row[name]), textOf(said[name])] as const,
      ).filter(([name, is, events]) => name in said && is !== events);
      const how = others.map(([name, is, events]) => describeColumn(name, is, events)).join('; ');
      if (others.length > 0) this.differs(row.endpoint_id, how, SNAPSHOTS);
    }
    for (const id of expected.keys()) this.differs(id, 'no row, the events say that there is one', SNAPSHOTS);
  }

  private createdBy(event: RecordedEvent): readonly Created[] {
    const { data, recordedAt } = event;
    const merchant = String(data['merchant_id']);
    const snapshots = this.snapshots.get(merchant) ?? new Map<string, EndpointSnapshotRow>();
    const { snapshots: changed, deliveries } = react([event], [...snapshots.values()], this.published);
    for (const snapshot of changed)
      if (snapshot.status === 'deleted') snapshots.delete(snapshot.endpoint_id);
      else snapshots.set(snapshot.endpoint_id, snapshot);
    if (changed.length > 0) this.snapshots.set(merchant, snapshots);
    return deliveries.map((delivery) => ({ delivery, recordedAt }));
  }

  private async findCreated(created: readonly Created[]): Promise<void> {
    if (created.length === 0) return;
    this.keptSince ??= (await this.stored.now()) - retentionSeconds(this.tables.config) * 1000 + MARGIN_MS;
    const ids = await this.stored.existing(created.map(({ delivery }) => delivery.delivery_id));
    for (const { delivery, recordedAt } of created) {
      const id = delivery.delivery_id.toLowerCase();
      if (ids.has(id)) this.found += 1;
      else if (recordedAt.getTime() > this.keptSince)
        this.missing.push([id, delivery.body.match(UUIDS) ?? []]);
    }
  }

  private differs(what: string, how: string, table: string = DELIVERIES_SAGA): void {
    this.differences.add(`${table} ${what}: ${how}`);
  }
}

function textOf(value: unknown): string | null {
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'string' || value === null ? value : (JSON.stringify(value) ?? null);
}
