import { PassThrough } from 'node:stream';
import { once } from 'node:events';
import type { PoolClient } from 'pg';
import type { EventCodec } from '../event-store/event-codec.js';
import { comparePositions, type RecordedEvent } from '../event-store/port.js';
import type { Database } from '../postgres/database.js';
import { WITHOUT_TIMEOUTS } from '../postgres/session-settings.js';
import type { TableComparison } from './compare-tables.js';
import type { ReadModelTables, SubscriptionDefinition } from './projection.js';
import { ShadowTables } from './shadow-tables.js';
import type { TableCheck } from './table-check.js';

const BEGIN = `begin isolation level repeatable read; ${WITHOUT_TIMEOUTS};
  set local maintenance_work_mem = '128MB'; set local work_mem = '64MB'`;

/** A subscription with tables. */
export type ReadModel = SubscriptionDefinition & { readonly tables: ReadModelTables };

export function isReadModel(definition: SubscriptionDefinition): definition is ReadModel {
  return definition.tables !== undefined;
}

/** Reads the checkpoint of the read model in the transaction that sees its tables, before anything else does. */
type OpenSnapshot = (tx: PoolClient) => Promise<string | null>;

/**
 * Rebuilds a read model from the events up to its checkpoint, in shadow tables that are dropped in the end, and compares
 * them with the live tables in one snapshot of the database.
 */
export class ReadModelCheck implements TableCheck {
  private readonly names: ReadonlySet<string>;
  /** One page is in flight while the next one is read. */
  private readonly events = new PassThrough({ objectMode: true, highWaterMark: 1 });
  private readonly filled: Promise<void>;

  private constructor(
    private readonly definition: ReadModel,
    private readonly codec: EventCodec,
    private readonly tx: PoolClient,
    private readonly shadow: ShadowTables,
    readonly position: string | null,
  ) {
    this.names = new Set(definition.events);
    this.filled = shadow.fill(definition, this.events);
    // Awaited in `add` and `compare`.
    this.filled.catch(() => undefined);
  }

  /** Holds a connection until {@link drop}. */
  static async begin(
    database: Database,
    codec: EventCodec,
    definition: ReadModel,
    open: OpenSnapshot,
  ): Promise<ReadModelCheck> {
    const tx = await database.pool.connect();
    try {
      await tx.query(BEGIN);
      const position = await open(tx);
      const { rows } = await tx.query<{ pid: number }>('select pg_backend_pid() as pid');
      const how = { prefix: `checked_${rows[0]!.pid}`, kind: 'unlogged' } as const;
      const shadow = await ShadowTables.create(tx, definition.tables, how);
      return new ReadModelCheck(definition, codec, tx, shadow, position);
    } catch (error) {
      tx.release(true);
      throw error;
    }
  }

  /** Of its checkpoint. */
  get name(): string {
    return this.definition.name;
  }

  async add(page: readonly RecordedEvent[]): Promise<void> {
    const relevant = page.filter(
      ({ type, position }) =>
        this.names.has(this.codec.currentName(type)) && comparePositions(position, this.position) <= 0,
    );
    if (relevant.length === 0) return;
    const events = await this.codec.decode(relevant, this.definition.staysSealed);
    if (!this.events.write(events)) await Promise.race([once(this.events, 'drain'), this.filled]);
  }

  async compare(): Promise<ReadonlyMap<string, TableComparison>> {
    this.events.end();
    await this.filled;
    return this.shadow.compare();
  }

  async drop(): Promise<void> {
    this.events.end();
    await this.filled.catch(() => undefined);
    const rolledBack = await this.tx.query('rollback').catch(() => null);
    this.tx.release(rolledBack === null);
  }
}
