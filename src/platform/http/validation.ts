import { ValidationPipe, type ArgumentMetadata } from '@nestjs/common';
import { getMetadataStorage, type ValidationError } from 'class-validator';
import { DomainError, type FieldErrors } from '../../kernel/domain-error.js';
import { isObject } from '../dto/field.js';
import { MAX_UNKNOWN } from './request-state.js';

/** A query string as Fastify parsed it: a parameter given twice is an array. */
type Query = Readonly<Record<string, unknown>>;

/**
 * The members of a request that its DTO knows, as an instance of it; others are dropped: v1 only grows. Throws DomainError
 * `validation_failed` (422) naming each member at fault, `{webhook_endpoint: {url}}` as `url`.
 */
class DtoPipe extends ValidationPipe {
  constructor(
    exceptionFactory = (errors: ValidationError[]): Error => DomainError.invalid(fieldErrors(errors)),
  ) {
    const transformOptions = { excludeExtraneousValues: true, exposeUnsetFields: false };
    super({ transform: true, transformOptions, validateCustomDecorators: true, exceptionFactory });
  }
}

/** A JSON body. Throws DomainError `validation_failed` (422) for anything but an object as well. */
export class BodyPipe extends DtoPipe {
  constructor(private readonly mayBeAbsent: boolean) {
    super();
  }

  override transform(body: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const object = this.mayBeAbsent && body === undefined ? {} : body;
    if (isObject(object)) return super.transform(object, metadata);
    throw new DomainError('validation_failed', 'The request body must be a JSON object');
  }
}

/**
 * The parameters of a query string. Throws DomainError `bad_request` (400) whose detail names the parameter at fault; of a
 * list also one that it does not know, as a misspelt filter must not list everything.
 */
export class QueryPipe extends DtoPipe {
  constructor(private readonly isList: boolean) {
    super((errors) => {
      const [[name, messages] = ['', []]] = Object.entries(fieldErrors(errors));
      return new DomainError('bad_request', `${name} ${messages[0] ?? ''}`);
    });
  }

  override transform(given: Query, metadata: ArgumentMetadata): Promise<unknown> {
    const known = membersOf(metadata.metatype);
    const query = this.isList ? trimmed(given) : given;
    const unknown = this.isList ? Object.keys(query).find((name) => !known.has(name)) : undefined;
    if (unknown !== undefined) {
      const rest = known.size > 0 ? ` (${[...known].join(', ')})` : ', which has none';
      throwBadRequest(unknown, `is not a parameter of this list${rest}`);
    }
    for (const name of known) {
      if (Array.isArray(query[name])) throwBadRequest(name, 'must be given once');
      if (query[name] === '') throwBadRequest(name, 'must not be empty');
    }
    return super.transform(query, metadata);
  }
}

/**
 * The parameters of an operation whose inputs are all in its query: 422 naming each one at fault, as in a body. Throws
 * DomainError `bad_request` (400) for one that is repeated, and for a long one that the operation does not know.
 */
export class InputsPipe extends DtoPipe {
  override transform(query: Query, metadata: ArgumentMetadata): Promise<unknown> {
    const known = membersOf(metadata.metatype);
    for (const [name, value] of Object.entries(query)) {
      if (Array.isArray(value)) throwBadRequest(name, 'must be given once');
      if (!known.has(name) && name.length + String(value).length > MAX_UNKNOWN)
        throwBadRequest(name.slice(0, MAX_UNKNOWN), `must be at most ${MAX_UNKNOWN} characters`);
    }
    return super.transform(query, metadata);
  }
}

/** Trims filters, as writes trim. A blank before digits stays: it may be the plus of a phone number. */
function trimmed(query: Query): Query {
  const trim = (text: string): string => (/^ \d[\d ().-]{5,30}$/.test(text) ? text : text.trim());
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => [name, typeof value === 'string' ? trim(value) : value]),
  );
}

function membersOf(dto: ArgumentMetadata['metatype']): ReadonlySet<string> {
  const rules = dto ? getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false) : [];
  return new Set(rules.map(({ propertyName }) => propertyName));
}

/** Of an object in an array class-validator knows the index alone: its array names it. */
function fieldErrors(errors: readonly ValidationError[], array = ''): FieldErrors {
  const fields: Record<string, string[]> = {};
  const add = (name: string, messages: readonly string[]): void => {
    fields[name] = [...(fields[name] ?? []), ...messages];
  };
  for (const { property, constraints, children = [], value } of errors) {
    if (constraints?.field !== undefined) add(property, [constraints.field]);
    else if (constraints !== undefined) add(array, [`[${property}] must be an object`]);
    else
      Object.entries(fieldErrors(children, Array.isArray(value) ? property : array)).forEach((each) => {
        add(...each);
      });
  }
  return fields;
}

export function throwBadRequest(name: string, rule: string): never {
  throw new DomainError('bad_request', `${name} ${rule}`);
}
