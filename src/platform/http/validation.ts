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

export function refuse(name: string, rule: string): never {
  throw new DomainError('bad_request', `${name} ${rule}`);
}
