import type { KubernetesObject, Pod, Rendering } from './chart.js';

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

export const ownerOf = ({ owner }: Pod): string => owner.metadata.name;
export const nameOf = ({ metadata }: KubernetesObject): string => metadata.name;

/** A rule of each of the rows that a rendering has. */
export function ruleOf<T>(
  rows: (rendering: Rendering) => readonly T[],
  sentence: string,
  holds: (row: T, rendering: Rendering) => boolean | undefined,
  said?: (row: T) => string,
): Rule {
  return {
    sentence,
    violations: (rendering) => those(rows(rendering), (row) => holds(row, rendering), said),
  };
}
