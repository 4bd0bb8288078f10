import type { KubernetesObject, Pod, Rendering } from './chart.js';

/** A property of every rendering. */
export interface Rule {
  readonly sentence: string;
  /** Returns the violations in words. */
  readonly violations: (rendering: Rendering) => readonly string[];
}

export function those<T>(
  rows: readonly T[],
  holds: (row: T) => boolean | undefined,
  said: (row: T) => string = (row) => JSON.stringify(row),
): readonly string[] {
  return rows.filter((row) => holds(row) !== true).map(said);
}

export const ownerOf = ({ owner }: Pod): string => owner.metadata.name;
export const nameOf = ({ metadata }: KubernetesObject): string => metadata.name;

/** A rule for each of the rows in a rendering. */
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
