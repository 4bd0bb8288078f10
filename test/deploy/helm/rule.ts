import type { Rendering } from './chart.js';

/** A property of every rendering. */
export interface Rule {
  readonly sentence: string;
  /** The violations in words; empty where the rule holds. */
  readonly violations: (rendering: Rendering) => readonly string[];
}

/** The rows that break the condition. */
export function those<T>(
  rows: readonly T[],
  holds: (row: T) => boolean | undefined,
  said: (row: T) => string = (row) => JSON.stringify(row),
): readonly string[] {
  return rows.filter((row) => holds(row) !== true).map(said);
}
