import type { ComparisonResult, Goal } from './compare.js';
import type { RowOutcome } from './row.js';

export interface RowResult extends RowOutcome {
  readonly row: string;
  readonly title: string;
  /** The reason why the row could not be finished, such as a wrong count, or null. */
  readonly error: string | null;
}

export function printRow({ row, title, comparisons, notes, error }: RowResult): void {
  console.log(`${row}: ${title}`);
  if (comparisons.length > 0)
    console.table(Object.fromEntries(comparisons.map((each) => [each.label, cells(each)])));
  for (const note of notes) console.log(`  ${note}`);
  console.log(error === null ? '' : `  FAILED: ${error}\n`);
}

function cells({ kind, median, min, max, goal, reached }: ComparisonResult): object {
  const digits = (value: number): string => value.toFixed(value >= 10 ? 1 : 2);
  return {
    median: `${digits(median)}x ${kind}`,
    rounds: `${digits(min)}..${digits(max)}`,
    goal: goal === null ? '' : goalText(goal),
    result: reached === null ? '' : reached ? 'reached' : 'MISSED',
  };
}

function goalText(goal: Goal): string {
  return 'atLeast' in goal ? `>= ${goal.atLeast}` : `<= ${goal.atMost}`;
}
