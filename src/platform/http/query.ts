import { DomainError } from '../../kernel/domain-error.js';
import { isUuid } from '../../kernel/ids.js';
import { parseInstant } from '../../kernel/instant.js';

/** A query string as Fastify parsed it: a parameter given twice is an array. */
export type Query = Readonly<Record<string, unknown>>;

/** Throws DomainError `bad_request` (400) whose detail names the parameter (contract.md 6.3). */
function refuse(name: string, rule: string): never {
  throw new DomainError('bad_request', `${name} ${rule}`);
}

/** For lists alone: a misspelt filter must not list everything (contract.md 6.3). */
export function requireKnown(query: Query, known: readonly string[]): void {
  const unknown = Object.keys(query).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const rest = known.length > 0 ? ` (${known.join(', ')})` : ', which has none';
  refuse(unknown, `is not a parameter of this list${rest}`);
}

/** The parameter's text; undefined when absent. An empty or repeated one is 400. */
export function textParameter(query: Query, name: string): string | undefined {
  const value = query[name];
  if (value === undefined) return undefined;
  if (typeof value !== 'string') return refuse(name, 'must be given once');
  if (value === '') return refuse(name, 'must not be empty');
  return value;
}

export function requiredParameter(query: Query, name: string): string {
  return textParameter(query, name) ?? refuse(name, 'is required');
}

export function uuidParameter(query: Query, name: string): string | undefined {
  const value = textParameter(query, name);
  if (value === undefined) return undefined;
  return isUuid(value) ? value.toLowerCase() : refuse(name, 'must be a uuid');
}

export function enumParameter<const T extends string>(
  query: Query,
  name: string,
  allowed: readonly T[],
): T | undefined {
  const value = textParameter(query, name);
  if (value === undefined) return undefined;
  return allowed.find((each) => each === value) ?? refuse(name, `must be one of ${allowed.join(', ')}`);
}

export function integerParameter(
  query: Query,
  name: string,
  range: { readonly min: number; readonly max: number; readonly fallback: number },
): number {
  const value = textParameter(query, name);
  if (value === undefined) return range.fallback;
  const number = Number(value);
  const valid = /^[0-9]{1,15}$/.test(value) && number >= range.min && number <= range.max;
  return valid ? number : refuse(name, `must be a whole number from ${range.min} to ${range.max}`);
}

/** A calendar date `YYYY-MM-DD` that exists; undefined when absent. */
export function dateParameter(query: Query, name: string): string | undefined {
  const value = textParameter(query, name);
  if (value === undefined) return undefined;
  const time = /^(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(value)
    ? Date.parse(`${value}T00:00:00Z`)
    : Number.NaN;
  const exists = !Number.isNaN(time) && new Date(time).toISOString().startsWith(value);
  return exists ? value : refuse(name, 'must be a date of the form YYYY-MM-DD');
}

/** An instant in RFC 3339, such as `2026-01-31T12:00:00Z`; undefined when absent. A `+` must be sent as `%2B`. */
export function instantParameter(query: Query, name: string): Date | undefined {
  const value = textParameter(query, name);
  if (value === undefined) return undefined;
  return parseInstant(value) ?? refuse(name, 'must be a date and time such as 2026-01-31T12:00:00Z');
}
