/** One object of the API. */
export type Row = Readonly<Record<string, unknown>>;

export type Kind =
  'text' | 'code' | 'id' | 'time' | 'money' | 'number' | 'ms' | 'status' | 'yes' | 'list' | 'json' | 'block';

/** A value of a row, and how people read it: a column, a line of a detail list, a column of a CSV file. */
export interface Field {
  readonly label: string;
  /** A path in the row, such as `check.next_at`, or what computes the value. */
  readonly of: string | ((row: Row) => unknown);
  readonly as?: Kind;
  /** The unit of `money`, or `$` and the path of the unit in the row. */
  readonly unit?: string;
  /** Returns the target of a click on the value. */
  readonly to?: (row: Row) => string | null;
  /** The scope without which the value is no link. */
  readonly toScope?: string;
  /** True for a column that is hidden until the person selects it. */
  readonly hidden?: boolean;
  /** Displayed in place of null. */
  readonly none?: string;
  /** It changes without a new revision. */
  readonly unversioned?: boolean;
}

/** The value at a path: `check.next_at`; undefined where there is none. */
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

/** The texts of a list; none where there is no list. */
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

/** A value as plain text; empty for null. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  return typeof value === 'object' ? JSON.stringify(value) : String(value as number | boolean);
}

/** Checks for a value without anything to display. */
export function isBlank(value: unknown): boolean {
  return ['', '[]', '{}'].includes(textOf(value));
}

/** Rows as CSV (RFC 4180). A text that a spreadsheet would run as a formula begins with an apostrophe. */
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

/** A query of the address without its empty members. */
export function queryOf(members: Readonly<Record<string, string | null | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(members)) if (value) query.set(name, value);
  return query.size === 0 ? '' : `?${query.toString()}`;
}
