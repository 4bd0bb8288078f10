import type { Sample, Samples } from './measure.js';

/** `atLeast` divides the speed of the subject by that of the reference, `atMost` its time by the time. */
export type Goal = { readonly atLeast: number } | { readonly atMost: number };

export interface Comparison {
  readonly label: string;
  readonly subject: string;
  readonly reference: string;
  /** If missing, the ratio is only printed. */
  readonly goal?: Goal;
}

export interface ComparisonResult {
  readonly label: string;
  readonly kind: 'speed' | 'time';
  /** One ratio per round, of neighbouring samples. */
  readonly ratios: readonly number[];
  readonly median: number;
  readonly min: number;
  readonly max: number;
  readonly goal: Goal | null;
  readonly reached: boolean | null;
}

const secondsPerUnit = (sample: Sample): number => sample.seconds / sample.units;

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Compares two variants round by round. Throws when a variant has no samples. */
export function compare(samples: Samples, comparison: Comparison): ComparisonResult {
  const subject = samples.get(comparison.subject) ?? [];
  const reference = samples.get(comparison.reference) ?? [];
  if (subject.length === 0 || subject.length !== reference.length) {
    throw new Error(`${comparison.label}: ${subject.length} and ${reference.length} samples`);
  }
  const speed = comparison.goal !== undefined && 'atLeast' in comparison.goal;
  const ratios = subject.map((sample, round) => {
    const time = secondsPerUnit(sample) / secondsPerUnit(reference[round]!);
    return speed ? 1 / time : time;
  });
  const middle = median(ratios);
  return {
    label: comparison.label,
    kind: speed ? 'speed' : 'time',
    ratios,
    median: middle,
    min: Math.min(...ratios),
    max: Math.max(...ratios),
    goal: comparison.goal ?? null,
    reached: comparison.goal === undefined ? null : isReached(comparison.goal, middle),
  };
}

const isReached = (goal: Goal, ratio: number): boolean =>
  'atLeast' in goal ? ratio >= goal.atLeast : ratio <= goal.atMost;
