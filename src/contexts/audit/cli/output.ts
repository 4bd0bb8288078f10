import { setFlagsFromString } from 'node:v8';
import type { Command } from 'commander';
import type { CliContext } from '../../../platform/cli/cli-context.js';
import { inOneLine } from '../../../platform/cli/printable.js';

/** Exit code when something is wrong. */
export const EXIT_WRONG = 2;
/** Exit code when nothing is wrong, and not everything could be checked. */
export const EXIT_INCOMPLETE = 1;

/** Prints an object with `--json`, and text for people without it. */
export function printResult<Result extends object>(
  program: Command,
  { print }: Pick<CliContext, 'print'>,
  result: Result,
  text: (result: Result) => string,
): void {
  const asJson = program.opts<{ json?: boolean }>().json === true;
  print(asJson ? JSON.stringify(result, null, 2) : text(result));
}

/** `2026-01-31 12:00:00.123`, in UTC. */
export function time(at: Date): string {
  return at.toISOString().replace('T', ' ').slice(0, 23);
}

/** Rows as columns as wide as their widest cell. A cell cannot imitate a line. */
export function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const cells = rows.map((row) => row.map(inOneLine));
  const width = (place: number): number => Math.max(...cells.map((row) => row[place]!.length));
  const widths = cells[0]?.map((_, place) => width(place)) ?? [];
  return cells.map((row) =>
    row
      .map((cell, place) => cell.padEnd(widths[place]!))
      .join('  ')
      .trimEnd(),
  );
}

/**
 * Rows under the names of their members, after an empty line; nothing without rows. In a terminal of less width each row is
 * a list of its members instead.
 */
export function printTable(
  rows: readonly Readonly<Record<string, string>>[],
  width = process.stdout.columns ?? Infinity,
): readonly string[] {
  if (rows.length === 0) return [];
  const table = columns([Object.keys(rows[0]!), ...rows.map((row) => Object.values(row))]);
  if (table.every((line) => line.length <= width)) return ['', ...table];
  return rows.flatMap((row) => ['', ...columns(Object.entries(row).filter(([, text]) => text !== ''))]);
}

/** `1 payout`, `2 payouts`. */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

const FIRST_MS = 2000;
const EVERY_MS = 5000;

/** Reports progress on standard error, after two seconds and then every five. */
export function createProgress(print = (text: string): unknown => process.stderr.write(`${text}\n`)) {
  const began = performance.now();
  let dueAt = began + FIRST_MS;
  return (read: number, position: string): void => {
    const now = performance.now();
    if (now < dueAt) return;
    dueAt = now + EVERY_MS;
    print(`${read} events read in ${((now - began) / 1000).toFixed(0)} s, up to position ${position}`);
  };
}

/**
 * Of a program that reads a whole log: V8 collects once what lives has grown by so many percent. Left to itself it lets
 * garbage become several times that, for speed. No bound on the heap: a larger log takes more, and does not end the program.
 */
export function collectEarly(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`);
}
