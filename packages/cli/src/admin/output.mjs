// The admin program's output of responses.
import { printable } from '../json-text.mjs';
import { bold, dim, printLine, table, wrap } from '../terminal.mjs';

/** A uuid has 36 characters, a hash 64. */
const LONG = 32;

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isRows = (value) => Array.isArray(value) && value.length > 0 && value.every(isObject);

/** The rows of a response with a list: its first array. */
export function rowsOf(body) {
  return Object.values(body).find(Array.isArray) ?? [];
}

/** `[name, text]` of each scalar in the object; members of members have a dot. `merchants` is null for all of them. */
function cellsOf(object, prefix = '') {
  return Object.entries(object).flatMap(([name, value]) => {
    if (isObject(value)) return cellsOf(value, `${prefix}${name}.`);
    if (isRows(value) || value === undefined) return [];
    const text = Array.isArray(value)
      ? value.join(', ')
      : String(value ?? (name === 'merchants' ? 'all' : ''));
    return [[prefix + name, printable(text)]];
  });
}

/**
 * A line for each row under a line of names; columns without any value are left out. What a terminal has no room for comes
 * below its row, as `name=text`.
 */
export function printTable(rows, indent = '', width = process.stdout.columns ?? Infinity) {
  const room = width - indent.length;
  const cells = rows.map((row) => new Map(cellsOf(row)));
  const names = [...new Set(cells.flatMap((row) => [...row.keys()]))].filter((name) =>
    cells.some((row) => row.get(name)),
  );
  const widthOf = (name) => Math.max(name.length, ...cells.map((row) => (row.get(name) ?? '').length));
  const widths = new Map(names.map((name) => [name, widthOf(name)]));
  const fitting = columnsWithin(widths, room);
  const line = (textOf) =>
    fitting
      .map((name) => textOf(name).padEnd(widths.get(name)))
      .join('  ')
      .trimEnd();
  printLine(indent + dim(line(String)));
  const others = names.filter((name) => !fitting.includes(name));
  for (const row of cells) {
    printLine(indent + line((name) => row.get(name) ?? ''));
    const rest = others.filter((name) => row.get(name)).map((name) => `${name}=${row.get(name)}`);
    if (rest.length > 0)
      wrap(rest.join(' '), room - 4).forEach((text) => printLine(`${indent}    ${dim(text)}`));
  }
}

/** The first name, and those after it that fit into a line of this width. Long ones, such as other ids, come last. */
function columnsWithin(widths, room) {
  const [first, ...others] = [...widths.keys()];
  const isLong = (name) => widths.get(name) >= LONG;
  const fitting = new Set([first]);
  let left = room - (widths.get(first) ?? 0);
  for (const name of [...others.filter((each) => !isLong(each)), ...others.filter(isLong)]) {
    if (widths.get(name) + 2 > left) continue;
    fitting.add(name);
    left -= widths.get(name) + 2;
  }
  return [first, ...others].filter((name) => fitting.has(name));
}

/** A response, `{merchant: {...}, operation_id}` for example: a line for each member, a table for each list of objects. */
export function printRecord(body) {
  const [only, ...others] = Object.values(body).filter(isObject);
  const record =
    others.length > 0 || only === undefined
      ? body
      : { ...only, ...Object.fromEntries(Object.entries(body).filter(([, value]) => !isObject(value))) };
  const cells = cellsOf(record);
  if (cells.length > 0) table(cells.map(([name, text]) => [name, text || dim('none')]));
  for (const [name, value] of Object.entries(record).filter(([, each]) => isRows(each))) {
    printLine(`\n  ${bold(name)}`);
    printTable(value, '  ');
  }
}
