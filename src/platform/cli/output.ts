import { setFlagsFromString } from 'node:v8';
import type { Command } from 'commander';
import type { CliContext } from './cli-context.js';

/** The exit code of a check that found errors. */
export const EXIT_WRONG = 2;
/** The exit code of a check that found no errors, but could not check everything. */
export const EXIT_INCOMPLETE = 1;

/** The control and text-direction characters, which a terminal would obey in stored text. */
const STEERING = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Replaces steering characters by JSON escapes, so that JSON keeps its value. Line breaks and tabs stay. */
export function printable(text: string): string {
  return text.replaceAll(STEERING, (each) => (each === '\n' || each === '\t' ? each : escaped(each)));
}

export function inOneLine(text: string): string {
  return text.replaceAll(STEERING, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

export function printResult<Result extends object>(
  command: Command,
  { print }: Pick<CliContext, 'print'>,
  result: Result,
  text: (result: Result) => string,
): void {
  const asJson = command.optsWithGlobals<{ json?: boolean }>().json === true;
  print(asJson ? JSON.stringify(result, null, 2) : text(result));
}

/** Pads the cells of rows to columns. A cell cannot contain a line break. */
export function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const cells = rows.map((row) => row.map(inOneLine));
  const widths = cells[0]?.map((_, place) => Math.max(...cells.map((row) => row[place]!.length))) ?? [];
  const padded = cells.map((row) => row.map((cell, place) => cell.padEnd(widths[place]!)));
  return padded.map((row) => row.join('  ').trimEnd());
}

/** Returns the lines of a table, or of one list per row if the table is wider than the terminal. */
export function printTable(
  rows: readonly Readonly<Record<string, string>>[],
  width = process.stdout.columns ?? Infinity,
): readonly string[] {
  if (rows.length === 0) return [];
  const table = columns([Object.keys(rows[0]!), ...rows.map((row) => Object.values(row))]);
  if (table.every((line) => line.length <= width)) return ['', ...table];
  return rows.flatMap((row) => ['', ...columns(Object.entries(row).filter(([, text]) => text !== ''))]);
}

/** Returns the count with its noun, such as `1 payout` or `2 payouts`. */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

const FIRST_MS = 2000;
const EVERY_MS = 5000;

/** Returns a function that prints the progress of reading a log to standard error, every few seconds. */
export function createProgress(what = 'events read') {
  const began = performance.now();
  let dueAt = began + FIRST_MS;
  return (count: number, position: string): void => {
    const now = performance.now();
    if (now < dueAt) return;
    dueAt = now + EVERY_MS;
    const seconds = ((now - began) / 1000).toFixed(0);
    process.stderr.write(`${count} ${what} in ${seconds} s, up to position ${position}\n`);
  };
}

/**
 * Collects garbage once the heap has grown by this percentage, in a program that reads a whole log. By
 * default, garbage grows to several times the live heap. A fixed bound would end the program on a large log.
 */
export function collectEarly(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`);
}
