import { at, isRow, textOf, type Row } from './fields.js';

/** An input of a write. */
export interface FormField {
  /** The path in the body: `limits.requests_per_minute`. */
  readonly name: string;
  readonly label: string;
  /** The kind of input. `lines`: one value per line. `checks`: any of the options. `time`: in UTC. */
  readonly kind?: 'text' | 'number' | 'choice' | 'lines' | 'checks' | 'tick' | 'time';
  readonly options?: readonly string[];
  readonly required?: boolean;
  readonly hint?: string;
  /** The path of the initial value in the row. `preset` is the value without a path. */
  readonly initial?: string;
  readonly preset?: string;
  /** True for an input that is not sent on its own: part of the path, or read by {@link Rolling.implied}. */
  readonly inPath?: boolean;
  /** The largest number. */
  readonly most?: number;
  /** A condition for displaying the input. */
  readonly when?: (values: Values) => boolean;
}

/** The reason, in every write of an operator (admin-api.md 4). */
export const REASON_FIELD: FormField = {
  name: 'reason',
  label: 'Reason',
  required: true,
  hint: '3 to 500 characters. It is in the log for good: why, and on whose request.',
};
const TICKET: FormField = { name: 'ticket', label: 'Ticket', hint: 'A number or a link.' };
export const REASON_FIELDS = [REASON_FIELD, TICKET];

/** The texts of the inputs by name. `lines` and `checks` have a value per line; `tick` is `true` or empty. */
export type Values = Readonly<Record<string, string>>;

interface Rolling {
  readonly fields: readonly FormField[];
  readonly implied: (values: Values) => Row;
}

/**
 * The form that replaces a key or secret. It has no preset, because a leaked secret must end at once, unlike
 * one that is replaced as planned.
 */
export function rolling(mostHours: number): Rolling {
  return {
    fields: [
      {
        name: 'why',
        label: 'Why',
        kind: 'choice',
        options: ['leaked', 'planned'],
        required: true,
        inPath: true,
        hint: 'Leaked: the former one ends at once. Planned: both are valid during the overlap.',
      },
      {
        name: 'overlap_hours',
        label: 'Overlap in hours',
        kind: 'number',
        preset: '24',
        most: mostHours,
        required: true,
        inPath: true,
        when: ({ why }) => why === 'planned',
        hint: `1 to ${mostHours}.`,
      },
    ],
    implied: ({ why, overlap_hours: hours }) => ({
      overlap_seconds: why === 'planned' ? Number(hours) * 3600 : 0,
    }),
  };
}

export function initialValues(fields: readonly FormField[], row: Row): Values {
  return Object.fromEntries(fields.map((field) => [field.name, initialOf(field, row)]));
}

function initialOf({ initial, preset = '', kind }: FormField, row: Row): string {
  if (initial === undefined) return preset;
  const value = at(row, initial);
  if (Array.isArray(value)) return value.map(textOf).join('\n');
  if (kind === 'tick') return value === true ? 'true' : '';
  return textOf(value);
}

/**
 * Returns the body of a write. Without `before`, empty inputs are omitted. With `before` (a PATCH), only
 * changed members are sent, also inside objects. A list counts as one member; an emptied text is null.
 */
export function bodyOf(fields: readonly FormField[], values: Values, before: Values | null): Row {
  const body: Record<string, unknown> = {};
  for (const field of fields) {
    if (field.inPath === true || field.when?.(values) === false) continue;
    const text = values[field.name] ?? '';
    // The API defines the default of an absent tick; `preset` repeats it.
    const absent = field.kind === 'tick' ? (field.preset ?? '') : '';
    if (before === null ? text === absent : !differs(field, text, before[field.name])) continue;
    put(body, field.name.split('.'), parsed(field, text));
  }
  return body;
}

function differs(field: FormField, text: string, before = ''): boolean {
  return JSON.stringify(parsed(field, text)) !== JSON.stringify(parsed(field, before));
}

/**
 * Merges the person's entries into a newer state. Untouched fields get the new value. Lists keep the person's
 * additions and removals.
 */
export function rebase(
  fields: readonly FormField[],
  values: Values,
  { before, after }: { readonly before: Values; readonly after: Values },
): Values {
  const rebased = fields.map((field) => {
    const [own = '', former = '', newer = ''] = [values, before, after].map((each) => each[field.name]);
    if (!differs(field, own, former)) return [field.name, newer];
    return [field.name, isList(field) ? mergeLines(own, former, newer) : own];
  });
  return Object.fromEntries(rebased) as Values;
}

function mergeLines(...texts: [own: string, former: string, newer: string]): string {
  const [own, former, newer] = texts.map(linesOf) as [string[], string[], string[]];
  const kept = newer.filter((line) => own.includes(line) || !former.includes(line));
  const added = own.filter((line) => !former.includes(line) && !kept.includes(line));
  return [...kept, ...added].join('\n');
}

function isList({ kind }: FormField): boolean {
  return kind === 'lines' || kind === 'checks';
}

function parsed(field: FormField, text: string): unknown {
  const { kind } = field;
  if (kind === 'tick') return text === 'true';
  if (isList(field)) return linesOf(text);
  if (text.trim() === '') return null;
  if (kind === 'number') return Number(text);
  if (kind === 'time') return new Date(`${text}Z`).toISOString();
  return text.trim();
}

export function linesOf(text: string): string[] {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '');
}

function put(body: Record<string, unknown>, [name, ...rest]: string[], value: unknown): void {
  if (name === undefined) return;
  if (rest.length === 0) {
    body[name] = value;
    return;
  }
  const inner = isRow(body[name]) ? { ...body[name] } : {};
  put(inner, rest, value);
  body[name] = inner;
}
