import { isDeepStrictEqual } from 'node:util';
import type { BenchEnvironment } from '../support/environment.js';
import type { ComparisonResult } from './compare.js';
import type { Options } from './options.js';

export interface RowOutcome {
  readonly comparisons: readonly ComparisonResult[];
  /** Lines to print: subjects, sizes, memory. */
  readonly notes: readonly string[];
}

export interface RowContext {
  readonly options: Options;
  readonly environment: BenchEnvironment;
  progress(text: string): void;
}

export interface Row {
  readonly name: string;
  readonly title: string;
  run(context: RowContext): Promise<RowOutcome>;
}

export const row = (name: string, title: string, run: Row['run']): Row => ({ name, title, run });

/** A wrong count ends the row: a fast variant that loses work is not fast. */
export function expectEqual(what: string, actual: unknown, expected: unknown): void {
  if (isDeepStrictEqual(actual, expected)) return;
  throw new Error(`${what}: ${shortened(actual)}, expected ${shortened(expected)}`);
}

function shortened(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 400 ? `${text.slice(0, 200)} ... ${text.slice(-200)}` : text;
}
