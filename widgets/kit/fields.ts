/** An object of the API. */
export type Row = Readonly<Record<string, unknown>>;

export type Kind =
  'text' | 'code' | 'id' | 'time' | 'money' | 'number' | 'ms' | 'status' | 'yes' | 'list' | 'json' | 'block';

/** A value of a row and its format: a column, a line of details, or a column of a CSV file. */
export interface Field {
  readonly label: string;
  /** A path in the row, such as `check.next_at`, or a function that computes the value. */
  readonly of: string | ((row: Row) => unknown);
  readonly as?: Kind;
  /** The unit of `money`, or `$` and the path to the unit in the row. */
  readonly unit?: string;
  /** Returns the target of a click on the value. */
  readonly to?: (row: Row) => string | null;
  /** The scope required for the link. Without it the value is plain text. */
  readonly toScope?: string;
  /** True for a column that is hidden until the person selects it. */
  readonly hidden?: boolean;
  /** The text displayed for null. */
  readonly none?: string;
  /** True if the value may change without a new revision. */
  readonly unversioned?: boolean;
}

/** Returns the value at a path such as `check.next_at`, or undefined. */
export function at(value: unknown, path: string): unknown {
  let here = value;
  for (const name of path.split('.')) {
    if (!isRow(here) || !Object.hasOwn(here, name)) return undefined;
    here = here[name];
  }
  return here;
}

export function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function rowsAt(value: unknown, path: string): readonly Row[] {
  const rows = at(value, path);
  return Array.isArray(rows) ? rows.filter(isRow) : [];
}

export function textAt(value: unknown, path: string): string {
  return textOf(at(value, path));
}

/** Returns the texts of a list; none if there is no list. */
export function textsAt(value: unknown, path: string): readonly string[] {
  const list = at(value, path);
  return Array.isArray(list) ? list.map(textOf) : [];
}

export function valueOf(field: Field, row: Row): unknown {
  return typeof field.of === 'string' ? at(row, field.of) : field.of(row);
}

export function unitOf(field: Field, row: Row): string {
  const { unit = '' } = field;
  return unit.startsWith('$') ? textAt(row, unit.slice(1)) : unit;
}

/** Returns a value as plain text; empty for null. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  return typeof value === 'object' ? JSON.stringify(value) : String(value as number | boolean);
}

/** Returns true for a value with no text. */
export function isBlank(value: unknown): boolean {
  return ['', '[]', '{}'].includes(textOf(value));
}

/** Formats rows as CSV (RFC 4180). An apostrophe precedes a text that a spreadsheet would execute. */
export function csvOf(fields: readonly Field[], rows: readonly Row[]): string {
  const lines = rows.map((row) => fields.map((field) => textOf(valueOf(field, row))));
  const all = [fields.map(({ label }) => label), ...lines];
  return all.map((line) => line.map(csvCell).join(',') + '\r\n').join('');
}

function csvCell(text: string): string {
  const isFormula = /^[=+\-@\t\r]/.test(text) && !/^-?\d+(\.\d+)?$/.test(text);
  const safe = isFormula ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Returns the query of an address, without empty members. */
export function queryOf(members: Readonly<Record<string, string | null | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(members)) if (value) query.set(name, value);
  return query.size === 0 ? '' : `?${query.toString()}`;
}
