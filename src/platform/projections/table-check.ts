import type { PoolClient } from 'pg';
import { isUuid } from '../../kernel/ids.js';
import type { EventCodec } from '../event-store/event-codec.js';
import { comparePositions, type RecordedEvent } from '../event-store/port.js';
import type { Database } from '../postgres/database.js';
import { WITHOUT_TIMEOUTS } from '../postgres/session-settings.js';
import { DifferentRows, type TableComparison } from './compare-tables.js';
import type { ReadModel } from './projection.js';
import { ShadowTables } from './shadow-tables.js';

const IDS_PER_QUERY = 1000;
const BEGIN_CHECK = `begin isolation level repeatable read; ${WITHOUT_TIMEOUTS};
  set local maintenance_work_mem = '128MB'; set local work_mem = '64MB'`;

/** A comparison of tables with the events up to their checkpoint. */
export interface TableCheck {
  /** The name of the checkpoint. */
  readonly name: string;
  add(page: readonly RecordedEvent[]): Promise<void>;
  compare(): Promise<readonly TableComparison[]>;
}

/** Rebuilds a read model up to its checkpoint and compares it with the live tables in a snapshot. */
export class ReadModelCheck implements TableCheck {
  private constructor(
    readonly name: string,
    private readonly tx: PoolClient,
    private readonly shadow: ShadowTables,
    private readonly position: string | null,
  ) {}

  /** Begins a check in the snapshot of another session. The check holds a connection until {@link drop}. */
  static async begin(
    database: Database,
    codec: EventCodec,
    definition: ReadModel,
    { snapshot, position }: { readonly snapshot: string; readonly position: string | null },
  ): Promise<ReadModelCheck> {
    const tx = await database.pool.connect();
    try {
      await tx.query(BEGIN_CHECK);
      await tx.query(`set transaction snapshot '${snapshot}'`);
      const { rows } = await tx.query<{ pid: number }>('select pg_backend_pid() as pid');
      const how = { prefix: `checked_${rows[0]!.pid}`, kind: 'unlogged' } as const;
      const shadow = await ShadowTables.create(tx, codec, definition, how);
      return new ReadModelCheck(definition.name, tx, shadow, position);
    } catch (error) {
      tx.release(true);
      throw error;
    }
  }

  add(page: readonly RecordedEvent[]): Promise<void> {
    return this.shadow.add(page.filter(({ position }) => comparePositions(position, this.position) <= 0));
  }

  compare(): Promise<readonly TableComparison[]> {
    return this.shadow.compare();
  }

  async drop(): Promise<void> {
    await this.shadow.stop();
    const rolledBack = await this.tx.query('rollback').catch(() => null);
    this.tx.release(rolledBack === null);
  }
}

interface Tables {
  readonly query: (sql: string, values: readonly unknown[]) => Promise<readonly object[]>;
  readonly codec: Pick<EventCodec, 'currentName'>;
  readonly position: string | null;
}

/** A table of work that is derived from events. Work that is missing there would never be done. */
export interface WorkList {
  readonly name: string;
  /** The name of the table, as `schema.name`. */
  readonly table: string;
  /** The SQL condition that finds the row of a work item, whose id is `due.id`. */
  readonly listed: string;
  /** The field of the events' data that contains the id of the work item. */
  readonly id: string;
  readonly begins: string;
  readonly ends: readonly string[];
}

export class WorkListCheck implements TableCheck {
  readonly name: string;
  private readonly open = new Set<string>();

  constructor(
    private readonly list: WorkList,
    private readonly tables: Tables,
  ) {
    this.name = list.name;
  }

  async add(page: readonly RecordedEvent[]): Promise<void> {
    const { list, open, tables } = this;
    for (const { type, data, position } of page) {
      const current = tables.codec.currentName(type);
      if (current === list.begins && comparePositions(position, tables.position) <= 0)
        open.add(String(data[list.id]));
      // An end after the position counts too, because the table may already reflect it.
      else if (list.ends.includes(current)) open.delete(String(data[list.id]));
    }
  }

  async compare(): Promise<readonly TableComparison[]> {
    const { table, listed } = this.list;
    const ids = [...this.open].filter(isUuid);
    const missing = new DifferentRows();
    for (let next = 0; next < ids.length; next += IDS_PER_QUERY) {
      const rows = (await this.tables.query(
        `select id from unnest($1::uuid[]) as due (id) where not exists (select from ${table} where ${listed})`,
        [ids.slice(next, next + IDS_PER_QUERY)],
      )) as readonly { readonly id: string }[];
      for (const { id } of rows)
        missing.add(`${table} ${id}: not on the list, and the events say that it is open`);
    }
    return [missing.of(table, ids.length)];
  }
}
