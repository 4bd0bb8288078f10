import { readFileSync, writeFileSync } from 'node:fs';

/** Counts by a name that says what is counted; in `ceilings.json` the highest that each may be. */
export type Figures = Readonly<Record<string, number>>;

/** One sentence for each figure above its ceiling, or without one. */
export function violations(measured: Figures, ceilings: Figures): string[] {
  return Object.entries(measured).flatMap(([figure, count]) => {
    const ceiling = ceilings[figure];
    if (ceiling === undefined) return count === 0 ? [] : [`${figure}: ${count} and no ceiling`];
    return count > ceiling ? [`${figure}: ${count}, at most ${ceiling}`] : [];
  });
}

/** The ceilings lowered to what was measured, without those of figures that are no longer counted. Never higher. */
export function lowered(measured: Figures, ceilings: Figures): Figures {
  const counted = Object.entries(ceilings).filter(([figure]) => (measured[figure] ?? 0) > 0);
  return Object.fromEntries(
    counted.map(([figure, ceiling]) => [figure, Math.min(ceiling, measured[figure] ?? 0)]),
  );
}

export function readCeilings(file: string): Figures {
  return JSON.parse(readFileSync(file, 'utf8')) as Figures;
}

/** Writes the ceilings only where one has fallen. */
export function writeCeilings(file: string, ceilings: Figures): void {
  const text = `${JSON.stringify(ceilings, null, 2)}\n`;
  if (text !== readFileSync(file, 'utf8')) writeFileSync(file, text);
}
