import type { PoolClient } from 'pg';
import type { EventCodec } from '../event-store/event-codec.js';
import { comparePositions, type RecordedEvent } from '../event-store/port.js';
import type { Database } from '../postgres/database.js';
import { compareTables, type TableComparison } from './compare-tables.js';
import { Handover } from './handover.js';
import type { DerivedTables, SubscriptionDefinition } from './projection.js';
import { TwinTables } from './twin-tables.js';

const BEGIN = `begin isolation level repeatable read;
  set local statement_timeout = 0; set local transaction_timeout = 0; set local idle_in_transaction_session_timeout = 0;
  set local maintenance_work_mem = '128MB'; set local work_mem = '64MB'`;

/** A subscription with tables of its own. */
export type ReadModel = SubscriptionDefinition & DerivedTables;

export function isReadModel(definition: SubscriptionDefinition): definition is ReadModel {
  return definition.tables !== undefined;
}

/** Where the read model stands, and by which snapshot of the database. */
export interface Standing {
  readonly snapshot: string;
  readonly position: string | null;
}

/**
 * A read model made once more from the events, by its own projection and up to where it stands, in tables that nobody sees
 * and that are gone in the end; and compared with what is there.
 */
export class ReadModelCheck {
  private readonly names: ReadonlySet<string>;
  private readonly handover = new Handover<readonly RecordedEvent[]>();
  private readonly filled: Promise<void>;

  private constructor(
    private readonly definition: DerivedTables,
    private readonly codec: EventCodec,
    private readonly tx: PoolClient,
    private readonly twins: TwinTables,
    private readonly standing: Standing,
  ) {
    this.names = new Set(definition.events);
    this.filled = twins.fill(definition, this.handover);
    // Met by whoever adds, or by the end.
    this.filled.catch(() => undefined);
  }

  /** On a connection of its own, until {@link drop}. */
  static async begin(
    database: Database,
    codec: EventCodec,
    definition: DerivedTables,
    standing: Standing,
  ): Promise<ReadModelCheck> {
    const tx = await database.pool.connect();
    // A connection that dies emits an error of its own; the query under way rejects with it too.
    tx.on('error', () => undefined);
    try {
      await tx.query(BEGIN);
      await tx.query(`set transaction snapshot '${standing.snapshot}'`);
      const { rows } = await tx.query<{ pid: number }>('select pg_backend_pid() as pid');
      const how = { prefix: `checked_${rows[0]!.pid}`, kind: 'unlogged' } as const;
      const twins = await TwinTables.create(tx, definition.tables, how);
      return new ReadModelCheck(definition, codec, tx, twins, standing);
    } catch (error) {
      tx.release(true);
      throw error;
    }
  }

  /** Of its checkpoint. */
  get name(): string {
    return this.definition.name;
  }

  /** The next events of the log, as they are stored. */
  async add(page: readonly RecordedEvent[]): Promise<void> {
    const wanted = page.filter(
      ({ type, position }) =>
        this.names.has(this.codec.currentName(type)) &&
        comparePositions(position, this.standing.position) <= 0,
    );
    if (wanted.length === 0) return;
    const events = await this.codec.decode(wanted, this.definition.staysSealed);
    await Promise.race([this.handover.put(events), this.filled]);
  }

  /** After the last event. */
  async compare(most?: number): Promise<ReadonlyMap<string, TableComparison>> {
    this.handover.end();
    await this.filled;
    const { schema, names, json = [] } = this.definition.tables;
    const compared = new Map<string, TableComparison>();
    for (const name of names) {
      const pair = { live: `${schema}.${name}`, made: `${this.twins.schema}.${name}`, json };
      compared.set(pair.live, await compareTables(this.tx, pair, most));
    }
    return compared;
  }

  /** Nothing is left of it. */
  async drop(): Promise<void> {
    this.handover.end();
    await this.filled.catch(() => undefined);
    const rolledBack = await this.tx.query('rollback').catch(() => null);
    this.tx.release(rolledBack === null);
  }
}
