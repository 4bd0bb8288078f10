const ROWS_PER_PAGE = 1000;

type Query = <Row extends object>(sql: string, values: readonly unknown[]) => Promise<readonly Row[]>;

/** Hands `read` every row, page by page. `sql` gives up to `$2` rows with keys after `$1` (null at first), in their order. */
export async function everyRow<Row extends object>(
  query: Query,
  sql: string,
  keyOf: (row: Row) => string,
  read: (row: Row) => void,
): Promise<void> {
  let after: string | null = null;
  for (;;) {
    const rows: readonly Row[] = await query<Row>(sql, [after, ROWS_PER_PAGE]);
    rows.forEach(read);
    if (rows.length < ROWS_PER_PAGE) return;
    after = keyOf(rows.at(-1)!);
  }
}
