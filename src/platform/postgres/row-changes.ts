/** A change that an operation writes outside the log, recorded in `platform.operation_changes` (admin-api.md 4). */
export interface RowChange {
  /** `passing_type`, `sealing_key`, `master_key`, `signing_key` or `read_model`. */
  readonly what: string;
  readonly id: string;
  readonly at: Date;
}

/** Records a changed row of the running operation, once. Without an operation it does nothing. */
export async function recordRowChange(
  tx: { query(sql: string, values: unknown[]): Promise<unknown> },
  operationId: string | undefined,
  what: RowChange['what'],
  id: string,
): Promise<void> {
  if (operationId === undefined) return;
  await tx.query(
    `insert into platform.operation_changes (operation_id, what, id, changed_at) values ($1, $2, $3, now())
     on conflict do nothing`,
    [operationId, what, id],
  );
}

/** Reads the ids that this operation changed, for a repeat after a crash. Without an operation there are none. */
export async function changedBefore(
  tx: { query<Row>(sql: string, values: unknown[]): Promise<{ readonly rows: readonly Row[] }> },
  operationId: string | undefined,
  what: RowChange['what'],
): Promise<readonly string[]> {
  if (operationId === undefined) return [];
  const { rows } = await tx.query<{ readonly id: string }>(
    'select id from platform.operation_changes where operation_id = $1 and what = $2 order by id',
    [operationId, what],
  );
  return rows.map(({ id }) => id);
}

/** The query for an operation's changed rows, in the order of writing. */
export const ROW_CHANGES = `select what, id, changed_at as at from platform.operation_changes where operation_id = $1
  order by changed_at, what, id`;
