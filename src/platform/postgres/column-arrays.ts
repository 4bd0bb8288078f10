/** One array per column, as `unnest` takes them. */
export function columnArrays<Row extends object>(
  rows: readonly Row[],
  ...names: readonly (keyof Row)[]
): unknown[][] {
  return names.map((name) => rows.map((row) => row[name]));
}
