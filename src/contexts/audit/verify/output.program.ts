import { setFlagsFromString } from 'node:v8';
import type { Command } from 'commander';
import type { CliContext } from '../../../platform/cli/cli-context.js';
import { inOneLine } from '../../../platform/cli/printable.js';

/** The exit code for findings. */
export const EXIT_WRONG = 2;
/** The exit code without findings, where not everything could be checked. */
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

/** Pads the cells of rows to columns. A cell cannot contain a line break. */
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

/** Prints rows as a table after an empty line, or in a narrower terminal each row as a list of its members. */
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
 * Lets V8 collect garbage once the heap has grown by this percentage, for a program that reads a whole log. The default
 * lets garbage grow to several times the live heap; a fixed bound would end the program on a large log.
 */
export function collectEarly(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`);
}
