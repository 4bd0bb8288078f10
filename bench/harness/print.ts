import type { Check } from './checks.js';
import type { ComparisonResult } from './compare.js';

export interface RowResult {
  readonly row: string;
  readonly title: string;
  readonly comparisons: readonly ComparisonResult[];
  readonly checks: readonly Check[];
  readonly notes: readonly string[];
  /** Why the row could not be finished; null when it was. */
  readonly error: string | null;
}

const number = (value: number): string => (value >= 10 ? value.toFixed(1) : value.toFixed(2));

function goalText(comparison: ComparisonResult): string {
  if (comparison.goal === null) return '';
  return 'atLeast' in comparison.goal ? `>= ${comparison.goal.atLeast}` : `<= ${comparison.goal.atMost}`;
}

function verdict(comparison: ComparisonResult): string {
  if (comparison.reached === null) return '';
  return comparison.reached ? 'reached' : 'MISSED';
}

/** The table of one row, as lines. */
export function rowLines(result: RowResult): string[] {
  const cells = result.comparisons.map((each) => [
    each.label,
    `${number(each.median)}x ${each.kind}`,
    `${number(each.min)}..${number(each.max)}`,
    goalText(each),
    verdict(each),
  ]);
  const table = [['', 'median', 'min..max', 'goal', ''], ...cells];
  const widths = table[0]!.map((_, column) => Math.max(...table.map((line) => line[column]!.length)));
  const lines = [`${result.row}: ${result.title}`];
  if (cells.length > 0) {
    for (const line of table)
      lines.push(
        `  ${line
          .map((cell, i) => cell.padEnd(widths[i]!))
          .join('  ')
          .trimEnd()}`,
      );
  }
  const failed = result.checks.filter((check) => !check.ok);
  lines.push(
    failed.length === 0
      ? `  counts: all ${result.checks.length} hold`
      : `  counts: ${failed.length} of ${result.checks.length} are OFF: the row FAILS`,
  );
  for (const check of failed) lines.push(`    ${check.what}: ${check.detail}`);
  for (const note of result.notes) lines.push(`  ${note}`);
  if (result.error !== null) lines.push(`  NOT FINISHED: ${result.error}`);
  return lines;
}

/** Whether all counts of the row hold and it was finished. A missed goal is a result, not a failure. */
export function holds(result: RowResult): boolean {
  return result.error === null && result.checks.every((check) => check.ok);
}
