import { DomainError, type FieldErrors } from '../../kernel/domain-error.js';
import { isObject, membersOf, type Dto } from '../dto/field.js';
import { readDto, type FoundFault } from '../dto/read-dto.js';

/** A query string as Fastify parsed it: a parameter given twice is an array. */
export type Query = Readonly<Record<string, unknown>>;

/**
 * The members of a JSON body that its DTO knows; others are dropped, not refused: v1 only grows, and clients may be ahead
 * of us. Throws DomainError `validation_failed` (422) naming each member at fault, `{webhook_endpoint: {url}}` as `url`.
 */
export function readBody<T extends object>(dto: Dto<T>, body: unknown, raw?: () => string): T {
  const faults: FoundFault[] = [];
  const read = readDto(dto, requireObject(body), faults, raw);
  if (faults.length > 0) throw DomainError.invalid(fieldErrors(faults));
  return read;
}

function fieldErrors(faults: readonly FoundFault[]): FieldErrors {
  const fields: Record<string, string[]> = {};
  for (const { name, message } of faults) (fields[name] ??= []).push(message);
  return fields;
}

/** The body when it is a JSON object. Throws DomainError `validation_failed` (422) for anything else, none included. */
function requireObject(body: unknown): Readonly<Record<string, unknown>> {
  if (isObject(body)) return body;
  throw new DomainError('validation_failed', 'The request body must be a JSON object');
}

/**
 * The parameters of a query string that its DTO knows. Throws DomainError `bad_request` (400) whose detail names the
 * parameter at fault; of a list also one that it does not know, as a misspelt filter must not list everything.
 */
export function readQuery<T extends object>(dto: Dto<T>, query: Query, { list }: { list: boolean }): T {
  const known = membersOf(dto).map(({ name }) => name);
  const unknown = list ? Object.keys(query).find((name) => !known.includes(name)) : undefined;
  if (unknown !== undefined) {
    const rest = known.length > 0 ? ` (${known.join(', ')})` : ', which has none';
    refuse(unknown, `is not a parameter of this list${rest}`);
  }
  for (const name of known) {
    if (Array.isArray(query[name])) refuse(name, 'must be given once');
    if (query[name] === '') refuse(name, 'must not be empty');
  }
  const faults: FoundFault[] = [];
  const read = readDto(dto, query, faults);
  for (const { name, message } of faults) refuse(name, message);
  return read;
}

/** The most characters of a parameter that nobody asks for. */
const MOST_UNKNOWN = 2048;

/**
 * The parameters of an operation whose inputs are all in its query, as {@link readBody} reads members: 422 naming each one
 * at fault; those that its DTO does not know are ignored. Throws DomainError `bad_request` (400) for one that is repeated,
 * and for a long one that nobody knows.
 */
export function readInputs<T extends object>(dto: Dto<T>, query: Query): T {
  const known = new Set(membersOf(dto).map(({ name }) => name));
  for (const [name, value] of Object.entries(query)) {
    if (Array.isArray(value)) refuse(name, 'must be given once');
    if (!known.has(name) && name.length + String(value).length > MOST_UNKNOWN)
      refuse(name.slice(0, MOST_UNKNOWN), `must be at most ${MOST_UNKNOWN} characters`);
  }
  const faults: FoundFault[] = [];
  const read = readDto(dto, query, faults);
  if (faults.length > 0) throw DomainError.invalid(fieldErrors(faults));
  return read;
}

export function refuse(name: string, rule: string): never {
  throw new DomainError('bad_request', `${name} ${rule}`);
}
