import { fold, type Aggregate, type DomainEvent } from '../../kernel/aggregate.js';
import type { SubscriptionDefinition } from './projection.js';

/** A read model with one row per stream, folded from the events that the row contains. */
interface FoldedRows<State, Event extends DomainEvent> {
  readonly schema: string;
  readonly table: string;
  readonly aggregate: Aggregate<State, Event>;
  /** The field of the events' data that contains the row id. */
  readonly id: string;
  /** Returns the columns except `id`, `revision` and `events`; null for no row. */
  readonly toRow: (state: State) => object | null;
}

/** Returns an `apply` with two SQL statements. Rows keep events, which later versions fold differently. */
export function foldedRows<State, Event extends DomainEvent>({
  schema: own,
  table,
  aggregate,
  id,
  toRow,
}: FoldedRows<State, Event>): SubscriptionDefinition['apply'] {
  return async (recorded, tx, schema = own) => {
    const { rows } = await tx.query<{ id: string; revision: string; events: string }>(
      `select id, revision, events from ${schema}.${table} where id = any($1::uuid[])`,
      [[...new Set(recorded.map(({ data }) => data[id]))]],
    );
    const streams = new Map(
      rows.map(({ id, revision, events }) => [
        id,
        { revision: Number(revision), events: JSON.parse(events) as Event[], isChanged: false },
      ]),
    );
    for (const { revision, type, data } of recorded) {
      const stream = streams.get(data[id] as string) ?? { revision: -1, events: [] };
      if (revision <= stream.revision) continue;
      const events = [...stream.events, { type, data } as unknown as Event];
      streams.set(data[id] as string, { revision, events, isChanged: true });
    }
    const changed = [...streams].flatMap(([id, { revision, events, isChanged }]) => {
      const row = isChanged ? toRow(fold(aggregate, events)) : null;
      return row === null ? [] : [{ id, revision, events: JSON.stringify(events), ...row }];
    });
    if (changed.length === 0) return;
    const columns = Object.keys(changed[0]!);
    await tx.query(
      `insert into ${schema}.${table} (${columns.join()})
       select ${columns.join()} from json_populate_recordset(null::${schema}.${table}, $1)
       on conflict (id) do update set ${columns.map((each) => `${each} = excluded.${each}`).join()}`,
      [JSON.stringify(changed)],
    );
  };
}
