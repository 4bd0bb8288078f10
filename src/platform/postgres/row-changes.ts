/** An operation's change of a row outside the event log, in `platform.operation_changes` (admin-api.md 4). */
export interface RowChange {
  /** The type: `passing_type`, `sealing_key`, `master_key`, `signing_key` or `read_model`. */
  readonly what: string;
  readonly id: string;
  readonly at: Date;
}

/** Records that the operation changed this row; a repeat has no effect. Does nothing without an operation. */
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

/** Reads the ids of the rows that this operation changed before a crash, so that its repeat can skip them. */
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

export const ROW_CHANGES = `select what, id, changed_at as at from platform.operation_changes where operation_id = $1
  order by changed_at, what, id`;
