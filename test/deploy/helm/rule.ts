import type { Rendering } from './chart.js';

/** What holds for every rendering. */
export interface Rule {
  readonly sentence: string;
  /** What is wrong, in words; nothing where the rule holds. */
  readonly violations: (rendering: Rendering) => readonly string[];
}

/** The rows for which the condition does not hold. */
export function those<T>(
  rows: readonly T[],
  holds: (row: T) => boolean | undefined,
  said: (row: T) => string = (row) => JSON.stringify(row),
): readonly string[] {
  return rows.filter((row) => holds(row) !== true).map(said);
}
