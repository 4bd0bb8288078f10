/** `2026-01-31 12:00:00.123`, in UTC. */
export function time(at: Date): string {
  return at.toISOString().replace('T', ' ').slice(0, 23);
}

/** Rows as columns: as wide as their widest cell, numbers (named by their place) to the right. */
export function columns(
  rows: readonly (readonly string[])[],
  right: readonly number[] = [],
): readonly string[] {
  const widths: number[] = [];
  for (const row of rows)
    row.forEach((cell, place) => (widths[place] = Math.max(widths[place] ?? 0, cell.length)));
  return rows.map((row) =>
    row
      .map((cell, place) =>
        right.includes(place) ? cell.padStart(widths[place]!) : cell.padEnd(widths[place]!),
      )
      .join('  ')
      .trimEnd(),
  );
}

/** `1 payout`, `2 payouts`. */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
