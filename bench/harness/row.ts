import type { BenchEnvironment } from '../support/environment.js';
import type { Checks } from './checks.js';
import type { ComparisonResult } from './compare.js';
import type { Options } from './options.js';

/** The result of a row, without its checks. */
export interface RowOutcome {
  readonly comparisons: readonly ComparisonResult[];
  /** Facts worth a line: what was measured, sizes, memory. */
  readonly notes: readonly string[];
}

export interface RowContext {
  readonly options: Options;
  readonly environment: BenchEnvironment;
  readonly checks: Checks;
  progress(text: string): void;
}

export interface Row {
  readonly name: string;
  readonly title: string;
  run(context: RowContext): Promise<RowOutcome>;
}
