import { readFileSync, writeFileSync } from 'node:fs';

/** What is counted, by a name that says what it counts. */
export type Figures = Readonly<Record<string, number>>;

/** A ceiling that somebody raised, or set for something new, and why. */
interface Raise {
  readonly figure: string;
  readonly to: number;
  readonly because: string;
}

/** `ceilings.json`: a figure may not be higher than its ceiling; `raised` wins over `ceilings`. */
export interface Ceilings {
  readonly raised: readonly Raise[];
  readonly ceilings: Figures;
}

const MIN_REASON = 20;

/** The figures above their ceiling, those without one, and raises without a reason: one sentence each. */
export function violations(measured: Figures, { ceilings, raised }: Ceilings): string[] {
  const bare = raised
    .filter(({ because }) => because.trim().length < MIN_REASON)
    .map(({ figure }) => `${figure}: "because" gives no reason`);
  const over = Object.entries(measured).flatMap(([figure, count]) => {
    const ceiling = raised.find((raise) => raise.figure === figure)?.to ?? ceilings[figure];
    if (ceiling === undefined) return count === 0 ? [] : [`${figure}: ${count} and no ceiling`];
    return count > ceiling ? [`${figure}: ${count}, at most ${ceiling}`] : [];
  });
  return [...bare, ...over];
}

/** The ceilings lowered to what was measured, without those of figures that are no longer counted. Never higher. */
export function lowered(measured: Figures, { ceilings, raised }: Ceilings): Ceilings {
  const counted = Object.entries(ceilings).filter(([figure]) => (measured[figure] ?? 0) > 0);
  const raises = raised.filter(({ figure }) => (measured[figure] ?? 0) > (ceilings[figure] ?? 0));
  return {
    raised: raises.map((raise) => ({ ...raise, to: Math.min(raise.to, measured[raise.figure] ?? 0) })),
    ceilings: Object.fromEntries(
      counted.map(([figure, ceiling]) => [figure, Math.min(ceiling, measured[figure] ?? 0)]),
    ),
  };
}

export function readCeilings(file: string): Ceilings {
  return JSON.parse(readFileSync(file, 'utf8')) as Ceilings;
}

/** Writes the ceilings only where one has fallen. */
export function writeCeilings(file: string, ceilings: Ceilings): void {
  const text = `${JSON.stringify(ceilings, null, 2)}\n`;
  if (text !== readFileSync(file, 'utf8')) writeFileSync(file, text);
}
