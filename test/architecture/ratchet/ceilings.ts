import { readFileSync, writeFileSync } from 'node:fs';

/** Counts by name. `ceilings.json` has their maxima. */
export type Figures = Readonly<Record<string, number>>;

/** Returns one sentence for each figure that exceeds its ceiling or has none. */
export function violations(measured: Figures, ceilings: Figures): string[] {
  return Object.entries(measured).flatMap(([figure, count]) => {
    const ceiling = ceilings[figure];
    if (ceiling === undefined) return count === 0 ? [] : [`${figure}: ${count} and no ceiling`];
    return count > ceiling ? [`${figure}: ${count}, at most ${ceiling}`] : [];
  });
}

/** Returns the ceilings lowered to the measured figures, without the uncounted ones. */
export function lowered(measured: Figures, ceilings: Figures): Figures {
  const counted = Object.entries(ceilings).filter(([figure]) => (measured[figure] ?? 0) > 0);
  return Object.fromEntries(
    counted.map(([figure, ceiling]) => [figure, Math.min(ceiling, measured[figure] ?? 0)]),
  );
}

export const readCeilings = (file: string): Figures => JSON.parse(readFileSync(file, 'utf8')) as Figures;

export function writeCeilings(file: string, ceilings: Figures): void {
  const text = `${JSON.stringify(ceilings, null, 2)}\n`;
  if (text !== readFileSync(file, 'utf8')) writeFileSync(file, text);
}
