import type { ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import type { KeysetPage } from './read-models.js';

/** The values that a column at the front of an index may have. */
export interface RangedColumn {
  readonly column: string;
  /** The SQL type of the column. */
  readonly type: 'uuid' | 'smallint' | 'text';
  readonly values: readonly (string | number)[];
}

/** Where the rows of a list are in the index of `table` on (`columns`, created_at desc, id desc). */
interface IndexRanges {
  /** With its schema. */
  readonly table: string;
  /** Each combination of values is one range of the index; without columns the whole index is. */
  readonly columns: readonly RangedColumn[];
  /** What else the rows fulfil, also the place after which the page begins: SQL on columns of the table. */
  readonly conditions?: readonly string[];
}

/**
 * Restricts the query to the ids of one page: the newest rows of each range, merged. So a list over several statuses or
 * merchants reads no more of the index than one over a single one, times the number of ranges. `keysetPage` does the rest.
 */
export function withinRanges<Entity extends ObjectLiteral>(
  query: SelectQueryBuilder<Entity>,
  { table, columns, conditions = [] }: IndexRanges,
  { pageSize }: Pick<KeysetPage, 'pageSize'>,
): SelectQueryBuilder<Entity> {
  const ranges = columns.map(
    ({ column, type }) => `unnest(:${nameOf(column)}::${type}[]) as ${nameOf(column)}`,
  );
  const rows = [...columns.map(({ column }) => `${column} = ${nameOf(column)}`), ...conditions];
  const newest = `order by created_at desc, id desc limit ${pageSize + 1}`;
  const rowsOfRange = `lateral (select id, created_at from ${table} where ${rows.join(' and ') || 'true'} ${newest}) newest`;
  const ids = `select id from (
      select newest.id, newest.created_at from ${[...ranges, rowsOfRange].join(' cross join ')}
    ) merged ${newest}`;
  const values = Object.fromEntries(columns.map(({ column, values }) => [nameOf(column), values]));
  return query.andWhere(`${query.alias}.id in (${ids})`, values);
}

/** Of the range's value, in SQL and among the parameters. */
function nameOf(column: string): string {
  return `range_${column}`;
}
