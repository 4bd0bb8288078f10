import { randomInt } from 'node:crypto';
import type { Attack } from './attacks/attack.js';
import type { Verdict } from './verdict.js';

export interface SuiteOptions {
  /** Rounds, kills or terminations, by suite. */
  readonly count: number;
  readonly verdict: Verdict;
  readonly say: (line: string) => void;
  /** Further sizes by their names on the command line. Each suite has its own defaults. */
  readonly sizes?: Readonly<Partial<Record<Size, number>>>;
  /** PostgreSQL by default. */
  readonly queue?: 'postgres' | 'redis';
  /** The victim of the suite `events`; the service or both by default. */
  readonly kill?: EventVictim;
  /** The client under test; TypeScript by default. */
  readonly client?: Client;
  /** The attack of the suite `slow-readers`; all of them by default. */
  readonly attack?: Attack['kind'];
  /** The previous release of the suite `upgrades`, as a commit or tag; the newest tag by default. */
  readonly from?: string;
}

export const EVENT_VICTIMS = ['service', 'worker', 'both', 'postgres'] as const;
/** `service` is the process that accepts and processes batches, `worker` the second worker. */
export type EventVictim = (typeof EVENT_VICTIMS)[number];

export const CLIENTS = ['typescript', 'python'] as const;
export type Client = (typeof CLIENTS)[number];

/** Sizes that some suites accept besides `--count`. */
export const SIZES = [
  'deliveries',
  'endpoints',
  'rate',
  'seconds',
  'window',
  'workers',
  'timeout-ms',
  'p99-ms',
  'p99-times',
  'percent',
  'addresses',
  'payouts',
  'seed',
  'only',
  'lease-ms',
] as const;
export type Size = (typeof SIZES)[number];

/** Runs one suite, and starts and stops everything it needs. */
export type Suite = (options: SuiteOptions) => Promise<void>;

export const between = (low: number, high: number): number => low + Math.random() * (high - low);

export function oneOf<T>(choices: readonly T[]): T {
  return choices[Math.floor(Math.random() * choices.length)]!;
}

/** Works on each number from 1 to `count`, `atOnce` at a time. */
export async function concurrently(
  count: number,
  atOnce: number,
  work: (number: number) => Promise<void>,
): Promise<void> {
  let next = 1;
  const worker = async (): Promise<void> => {
    while (next <= count) await work(next++);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, worker));
}

/** Chooses the seed of a run, which `--seed` repeats. */
export function chooseSeed({ sizes = {}, say }: Pick<SuiteOptions, 'sizes' | 'say'>): number {
  const seed = sizes.seed ?? randomInt(1, 2 ** 31);
  say(`seed   ${seed}`);
  return seed;
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
