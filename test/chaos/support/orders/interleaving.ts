import type { Random } from '../random.js';

/** What merchants, the payer and time do to one order. Times are in milliseconds. */
export interface Step {
  readonly kind: 'cancel' | 'mark_as_paid' | 'refresh' | 'deposit';
  /** After the order was created; relative to its end when the interleaving is of its end. */
  readonly atMs: number;
  /** Which of the two processes gets the request. */
  readonly process: 0 | 1;
  /** Of a deposit: its share of the amount, in hundredths. */
  readonly hundredths: number;
}

export interface Interleaving {
  /** Around the order's end, not its beginning. */
  readonly atTheEnd: boolean;
  readonly steps: readonly Step[];
}

const MAX_STEPS = 8;
/** So far apart, at most, are the first and the last step. */
const BEGINNING_MS = 60;
const END_MS = 250;
const KINDS = ['cancel', 'mark_as_paid', 'refresh', 'refresh', 'deposit', 'deposit'] as const;
/** Too little, halves that are enough together, exact, too much, more than the pair's maximum. */
const HUNDREDTHS = [1, 30, 50, 50, 70, 100, 100, 100, 150, 6000] as const;

/** Two to {@link MAX_STEPS} steps, all of them following from the generator. */
export function interleaving(random: Random): Interleaving {
  const atTheEnd = random.chance(0.4);
  const steps = Array.from({ length: 2 + random.below(MAX_STEPS - 1) }, (): Step => {
    const atMs = atTheEnd ? random.below(2 * END_MS) - END_MS : random.below(BEGINNING_MS);
    return {
      kind: random.pick(KINDS),
      atMs,
      process: random.chance(0.5) ? 0 : 1,
      hundredths: random.pick(HUNDREDTHS),
    };
  });
  return { atTheEnd, steps: steps.sort((a, b) => a.atMs - b.atMs) };
}
