import { isUuid } from '../../kernel/ids.js';
import type { EventCodec } from '../event-store/event-codec.js';
import { comparePositions, type RecordedEvent } from '../event-store/port.js';
import { DifferentRows, type TableComparison } from './compare-tables.js';

const IDS_PER_QUERY = 1000;

/** Compares tables with the events up to their checkpoint. */
export interface TableCheck {
  /** The name of the checkpoint. */
  readonly name: string;
  /** The next events of the log, as they are stored. */
  add(page: readonly RecordedEvent[]): Promise<void>;
  /** Compares after the last event, by `schema.name` of the table. */
  compare(): Promise<ReadonlyMap<string, TableComparison>>;
}

interface Tables {
  readonly query: (sql: string, values: readonly unknown[]) => Promise<readonly object[]>;
  readonly codec: Pick<EventCodec, 'currentName'>;
  /** The position of the checkpoint. */
  readonly position: string | null;
}

/** A table of work that follows from events: all that has begun and has not ended is on it, or it would stay open for ever. */
export interface WorkList {
  /** The name of the checkpoint. */
  readonly name: string;
  /** `schema.name`. */
  readonly table: string;
  /** Condition for a row of the table to be the one of the work `due.id`. */
  readonly listed: string;
  /** Name of the member of each event that is the id. */
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
      // The position is any, because the list may contain it already.
      else if (list.ends.includes(current)) open.delete(String(data[list.id]));
    }
  }

  async compare(): Promise<ReadonlyMap<string, TableComparison>> {
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
    return new Map([[table, missing.of(ids.length)]]);
  }
}
