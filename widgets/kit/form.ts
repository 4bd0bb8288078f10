import { at, isRow, textOf, type Row } from './fields.js';

/** A value that a person enters for a write. */
export interface FormField {
  /** The path in the body: `limits.requests_per_minute`. */
  readonly name: string;
  readonly label: string;
  /** `lines`: one value a line. `checks`: any of the options. `time`: in UTC. */
  readonly kind?: 'text' | 'number' | 'choice' | 'lines' | 'checks' | 'tick' | 'time';
  readonly options?: readonly string[];
  readonly required?: boolean;
  readonly hint?: string;
  /** The value before: a path in the row, which a PATCH changes, or a text to begin with. */
  readonly initial?: string;
  readonly preset?: string;
  /** Part of the path, or what {@link Rolling.implied} reads: not sent on its own. */
  readonly inPath?: boolean;
  /** The largest number. */
  readonly most?: number;
  /** Displayed only if so. */
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

/** The texts of the fields by name. `lines` and `checks` have one value a line; `tick` is `true` or empty. */
export type Values = Readonly<Record<string, string>>;

interface Rolling {
  readonly fields: readonly FormField[];
  readonly implied: (values: Values) => Row;
}

/** The form that replaces a key or secret. It has no preset: a leaked one must end at once, a planned change must not. */
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
 * The body of a write. Without `before` what is empty is left out; with it (a PATCH) only members that differ are sent, in
 * objects too. A list is one member; an emptied text is null.
 */
export function bodyOf(fields: readonly FormField[], values: Values, before: Values | null): Row {
  const body: Record<string, unknown> = {};
  for (const field of fields) {
    if (field.inPath === true || field.when?.(values) === false) continue;
    const text = values[field.name] ?? '';
    // The API decides on the meaning of an absent tick; `preset` repeats it.
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
 * What a person entered, on top of a newer state: fields that they did not touch follow it, and lists gain and lose what
 * the person added and removed.
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
