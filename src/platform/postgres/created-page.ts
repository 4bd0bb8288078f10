/** A place in a list that is ordered by creation time and id, newest first. Times are exact to the millisecond. */
export interface PagePlace {
  readonly createdAt: Date;
  readonly id: string;
}

/** A place in a list that is ordered by a time that others chose, in microseconds since 1970, and id. */
export interface ExactPlace {
  readonly microseconds: bigint;
  readonly id: string;
}

/** One page of such a list. Dates are `YYYY-MM-DD`, whole days in UTC, both inclusive. */
export interface CreatedPage {
  readonly createdFrom?: string;
  readonly createdTo?: string;
  readonly pageSize: number;
  /** The last place of the page before. */
  readonly after?: PagePlace;
}

/**
 * The conditions that put a row of a table with `created_at` on the page, as SQL. `parameter` takes a value and returns
 * its place, such as `$2`.
 */
export function pageConditions(
  page: Omit<CreatedPage, 'pageSize'>,
  idColumn: string,
  parameter: (value: string | Date) => string,
): string[] {
  const conditions: string[] = [];
  if (page.createdFrom !== undefined) {
    conditions.push(`created_at >= ${parameter(page.createdFrom)}::date::timestamp at time zone 'UTC'`);
  }
  if (page.createdTo !== undefined) {
    conditions.push(`created_at < (${parameter(page.createdTo)}::date + 1)::timestamp at time zone 'UTC'`);
  }
  if (page.after !== undefined) {
    const place = `${parameter(page.after.createdAt)}::timestamptz, ${parameter(page.after.id)}::uuid`;
    conditions.push(`(created_at, ${idColumn}) < (${place})`);
  }
  return conditions;
}
