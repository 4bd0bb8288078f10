// How the admin program prints what the API responds.
import { printable } from '../json-text.mjs';
import { bold, dim, printLine, table } from '../terminal.mjs';

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isRows = (value) => Array.isArray(value) && value.length > 0 && value.every(isObject);

/** The rows of a response with a list: its first array. */
export function rowsOf(body) {
  return Object.values(body).find(Array.isArray) ?? [];
}

/** `[name, text]` of each scalar in the object; members of members have a dot. */
function cellsOf(object, prefix = '') {
  return Object.entries(object).flatMap(([name, value]) => {
    if (isObject(value)) return cellsOf(value, `${prefix}${name}.`);
    if (isRows(value)) return [];
    const text = Array.isArray(value) ? value.join(', ') : String(value ?? '');
    return [[prefix + name, printable(text).replaceAll('\n', '\\u000a')]];
  });
}

/** A line for each row under a line of names; columns without any value are left out. */
export function printTable(rows, indent = '') {
  const cells = rows.map((row) => new Map(cellsOf(row)));
  const names = [...new Set(cells.flatMap((row) => [...row.keys()]))].filter((name) =>
    cells.some((row) => row.get(name)),
  );
  const widths = names.map((name) =>
    Math.max(name.length, ...cells.map((row) => (row.get(name) ?? '').length)),
  );
  const line = (texts) =>
    texts
      .map((text, index) => text.padEnd(widths[index]))
      .join('  ')
      .trimEnd();
  printLine(indent + dim(line(names)));
  for (const row of cells) printLine(indent + line(names.map((name) => row.get(name) ?? '')));
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
