import { HOUR_MS } from '../../../kernel/clock.js';
import { NameTable } from '../../../kernel/name-table.js';
import type { CheckedTables } from '../../../platform/context.js';
import { comparePositions, type RecordedEvent } from '../../../platform/event-store/port.js';
import {
  describeColumn,
  DifferentRows,
  type TableComparison,
} from '../../../platform/projections/compare-tables.js';
import type { TableCheck } from '../../../platform/projections/table-check.js';
import type { EndpointSnapshotRow } from '../store/endpoint-snapshots.js';
import { CheckedDeliveries, type StoredState } from '../store/stored-deliveries.js';
import { DELIVERIES_SAGA, react, sagaEvents, type CreatedDelivery } from './deliveries-saga.js';
import { retentionSeconds } from './delivering/delivery-retention.js';
import { publishedBy, type Published } from './published-events.js';

const COLUMNS = ['endpoint_id', 'merchant_id', 'type', 'is_test', 'body'] as const;
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
/** By which clocks may differ, and how long a sender may know an earlier state of an endpoint. */
const MARGIN_MS = HOUR_MS;
const STALE_MS = 60_000;
const UUIDS = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g;

interface Created {
  readonly delivery: CreatedDelivery;
  readonly recordedAt: Date;
}

/**
 * Compares deliveries with what the saga makes of the events: what is fixed when a delivery is created, that none is missing
 * whose time is not over, and that each state follows from the events and the recorded attempts.
 */
export class DeliveriesCheck implements TableCheck {
  readonly name = DELIVERIES_SAGA;
  private readonly published: Published;
  private readonly names: ReadonlySet<string>;
  private readonly stored: CheckedDeliveries;
  /** Endpoints that are not deleted, by merchant. */
  private readonly snapshots = new Map<string, Map<string, EndpointSnapshotRow>>();
  /** Ids of stored deliveries that an event created; of those that were created as dropped. */
  private readonly found = new NameTable();
  private readonly createdDropped = new NameTable();
  /** Positions of the last resends, by delivery. */
  private readonly resends = new Map<string, string>();
  private readonly recovered = new Set<string>();
  private readonly erased = new Set<string>();
  /** What is not stored, although its time is not over: ids that its body names. */
  private readonly missing: (readonly [id: string, named: readonly string[]])[] = [];
  private keptSince: number | null = null;
  private readonly differences = new DifferentRows();

  constructor(private readonly tables: CheckedTables) {
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
      await this.compareCreated(created);
      created = [];
    }
    await this.compareCreated(created);
  }

  async compare(): Promise<ReadonlyMap<string, TableComparison>> {
    for (const [id, named] of this.missing)
      if (!named.some((each) => this.erased.has(each)))
        this.differs(id, 'no row, the events say that there is one');
    let rows = 0;
    let strays = 0;
    await this.stored.states((row) => {
      rows += 1;
      const { delivery_id: id } = row;
      if (!this.found.has(id)) {
        strays += 1;
        return this.differs(id, 'a row, the events say that there is none');
      }
      const wrong = this.wrongState(row);
      if (wrong !== null) this.differs(id, wrong);
    });
    // An id that shares its bits with a genuine one is hidden from the table of names, not from the count.
    const hidden = rows - strays - this.found.size;
    if (hidden > 0) this.differs(`${hidden} of its rows`, 'the events say that there are none');
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
    const {
      snapshots: changed,
      deliveries,
      resends,
      recoveries,
    } = react([event], [...snapshots.values()], this.published);
    for (const snapshot of changed)
      if (snapshot.status === 'deleted') snapshots.delete(snapshot.endpoint_id);
      else snapshots.set(snapshot.endpoint_id, snapshot);
    if (changed.length > 0) this.snapshots.set(merchant, snapshots);
    for (const { delivery_id, position } of resends) this.resends.set(delivery_id, position);
    for (const { endpoint_id } of recoveries) this.recovered.add(endpoint_id);
    return deliveries.map((delivery) => ({ delivery, recordedAt }));
  }

  private async compareCreated(created: readonly Created[]): Promise<void> {
    if (created.length === 0) return;
    this.keptSince ??= (await this.stored.now()) - retentionSeconds(this.tables.config) * 1000 + MARGIN_MS;
    const rows = await this.stored.withIds(created.map(({ delivery }) => delivery.delivery_id));
    for (const { delivery, recordedAt } of created) {
      const id = delivery.delivery_id.toLowerCase();
      const row = rows.get(id);
      if (row === undefined) {
        if (recordedAt.getTime() > this.keptSince) this.missing.push([id, delivery.body.match(UUIDS) ?? []]);
        continue;
      }
      this.found.add(id);
      if (delivery.state === 'dropped') this.createdDropped.add(id);
      const said = {
        ...delivery,
        endpoint_id: delivery.endpoint_id.toLowerCase(),
        merchant_id: delivery.merchant_id.toLowerCase(),
        is_test: String(delivery.is_test),
      };
      const others = COLUMNS.filter((name) => row[name] !== said[name]);
      if (others.length > 0)
        this.differs(id, others.map((name) => describeColumn(name, row[name], said[name])).join('; '));
    }
  }

  /** What the events and the recorded attempts say against a state. */
  private wrongState(row: StoredState): string | null {
    const { delivery_id: id, state, outcome, resent_position: resent } = row;
    const requested = this.resends.get(id) ?? null;
    if (resent !== requested) return describeColumn('resent_position', resent, requested);
    const succeeded = outcome === 'succeeded';
    switch (state) {
      case 'succeeded':
        return succeeded ? null : 'state is succeeded, and no attempt succeeded';
      case 'exhausted':
        return outcome !== null && !succeeded ? null : 'state is exhausted, and no attempt says so';
      case 'pending':
        if (succeeded && resent === null) return 'state is pending, and an attempt succeeded';
        return this.createdDropped.has(id) && resent === null && !this.recovered.has(row.endpoint_id)
          ? describeColumn('state', state, 'dropped')
          : null;
      case 'dropped':
        return this.mayBeDropped(row) ? null : 'state is dropped, and the endpoint was never disabled since';
    }
  }

  private mayBeDropped({ delivery_id: id, merchant_id, endpoint_id, created_at }: StoredState): boolean {
    if (this.createdDropped.has(id)) return true;
    const snapshot = this.snapshots.get(merchant_id)?.get(endpoint_id);
    if (snapshot?.status !== 'enabled') return true;
    return Date.parse(snapshot.failures_since) + STALE_MS > created_at.getTime();
  }

  private differs(what: string, how: string, table: string = DELIVERIES_SAGA): void {
    this.differences.add(`${table} ${what}: ${how}`);
  }
}

function textOf(value: unknown): string | null {
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'string' || value === null ? value : (JSON.stringify(value) ?? null);
}
