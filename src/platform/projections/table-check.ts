import { isUuid } from '../../kernel/ids.js';
import type { EventCodec } from '../event-store/event-codec.js';
import { comparePositions, type RecordedEvent } from '../event-store/port.js';
import { DifferentRows, type TableComparison } from './compare-tables.js';

const IDS_PER_QUERY = 1000;

/** A comparison of tables with the events up to their checkpoint. */
export interface TableCheck {
  /** The name of the checkpoint. */
  readonly name: string;
  add(page: readonly RecordedEvent[]): Promise<void>;
  /** Compares after the last event. */
  compare(): Promise<readonly TableComparison[]>;
}

interface Tables {
  readonly query: (sql: string, values: readonly unknown[]) => Promise<readonly object[]>;
  readonly codec: Pick<EventCodec, 'currentName'>;
  readonly position: string | null;
}

/** A table of work that is derived from events. Open work that is missing from it would remain open for ever. */
export interface WorkList {
  /** The name of the checkpoint. */
  readonly name: string;
  /** `schema.name`. */
  readonly table: string;
  /** The condition for the row of the work `due.id`. */
  readonly listed: string;
  /** The name of the events' member with the id. */
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
      // An end after the position counts too: the table may already reflect it.
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
