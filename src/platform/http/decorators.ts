import {
  Body,
  createParamDecorator,
  Injectable,
  Param,
  Query,
  SetMetadata,
  UseInterceptors,
  ValidationPipe,
  type ArgumentMetadata,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiParam } from '@nestjs/swagger';
import type { ValidationError } from 'class-validator';
import { DomainError, type FieldErrors } from '../../kernel/domain-error.js';
import { isObject } from '../dto/field.js';
import { parseId } from '../dto/rules.js';
import { rulesOfClasses } from '../dto/validation-cache.js';
import { Refusal, TOO_MANY_PAGES } from './problem.js';
import { keepJsonText } from '../json-text/json-text.js';
import { withinList } from '../postgres/page-cursor.js';
import { MemoryBudget } from './request-body.js';
import {
  fromRequest,
  toCause,
  MAX_UNKNOWN,
  getMerchant,
  rawPath,
  getRequest,
  getTicket,
} from './request-state.js';

/** A query string as Fastify parsed it: a repeated parameter is an array. */
type QueryString = Readonly<Record<string, unknown>>;

/** Converts input to its DTO class. Unknown members are dropped, because later versions may add members. */
class DtoPipe extends ValidationPipe {
  constructor(
    exceptionFactory = (errors: ValidationError[]): Error => DomainError.invalid(fieldErrors(errors)),
  ) {
    const transformOptions = { excludeExtraneousValues: true, exposeUnsetFields: false };
    super({ transform: true, transformOptions, validateCustomDecorators: true, exceptionFactory });
  }
}

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

/** Validates a query. Lists refuse unknown parameters, so that a misspelt filter never lists everything. */
export class QueryPipe extends DtoPipe {
  constructor(private readonly isList: boolean) {
    super((errors) => {
      const [[name, messages] = ['', []]] = Object.entries(fieldErrors(errors));
      return new DomainError('bad_request', `${name} ${messages[0] ?? ''}`);
    });
  }

  override transform(given: QueryString, metadata: ArgumentMetadata): Promise<unknown> {
    const known = listMembers(metadata.metatype);
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

/** Validates inputs in a query. Invalid values get 422; repeats and overlong unknown parameters get 400. */
class InputsPipe extends DtoPipe {
  override transform(query: QueryString, metadata: ArgumentMetadata): Promise<unknown> {
    const known = listMembers(metadata.metatype);
    for (const [name, value] of Object.entries(query)) {
      if (Array.isArray(value)) throwBadRequest(name, 'must be given once');
      if (!known.has(name) && name.length + String(value).length > MAX_UNKNOWN)
        throwBadRequest(name.slice(0, MAX_UNKNOWN), `must be at most ${MAX_UNKNOWN} characters`);
    }
    return super.transform(query, metadata);
  }
}

/** Trims filters, except for a blank before digits, which may be the unescaped plus of a phone number. */
function trimmed(query: QueryString): QueryString {
  const trim = (text: string): string => (/^ \d[\d ().-]{5,30}$/.test(text) ? text : text.trim());
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => [name, typeof value === 'string' ? trim(value) : value]),
  );
}

function listMembers(dto: ArgumentMetadata['metatype']): ReadonlySet<string> {
  const ofDto = dto ? rulesOfClasses.getTargetValidationMetadatas(dto, '', false, false) : [];
  return new Set(ofDto.map(({ propertyName }) => propertyName));
}

/** Returns the messages by field name, not by path. An invalid item of an array has the array's name. */
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

export const MerchantId = fromRequest((request) => getMerchant(request).merchantId);
export const MerchantOfRequest = fromRequest(getMerchant);
export const Ticket = fromRequest(getTicket);
export const Cause = fromRequest(toCause);

/**
 * Marks a write that passes the response of each success to `CommandLoop.execute`, so that the commit detects
 * a used Idempotency-Key. `inClear` is for a response without secrets and personal data, stored unsealed.
 */
export const StoresResponseWithEvents = ({ inClear = false } = {}): MethodDecorator =>
  SetMetadata(STORED_WITH_EVENTS, { inClear });
export const STORED_WITH_EVENTS = 'response stored with events';

/** Marks a route that parses its body: `@Body()` is the Buffer as received, or undefined without a body. */
export const BodyAsBytes = (): MethodDecorator => RouteConfig({ bodyAsBytes: true });

/** The body as an instance of its DTO class. An invalid body gets 422 naming each invalid member. */
export const ValidBody = (): ParameterDecorator => Body(new BodyPipe(false));

/** The ValidBody, where an absent body counts as an empty object. */
export const OptionalBody = (): ParameterDecorator => Body(new BodyPipe(true));

const WithText = createParamDecorator((path: readonly string[], context: ExecutionContext): unknown => {
  const { body, edge } = getRequest(context);
  return keepJsonText(body, path, edge.rawBody.toString('utf8'));
});

/** The ValidBody, in which the object at `path` is a JsonText with its exact text. */
export const BodyWithText = (...path: readonly string[]): ParameterDecorator =>
  WithText(path, new BodyPipe(false));

/** The query as an instance of its DTO class. An invalid parameter gets 400 with its name. */
export const ValidQuery = (): ParameterDecorator => Query(new QueryPipe(false));

/** The parameters of a list other than its filters. */
const PLACES = ['page_cursor', 'page_size', 'totals'];

/** Refuses a page cursor of another path or other filters (400). Reserves memory before a page is read. */
@Injectable()
class ListCursors implements NestInterceptor {
  constructor(private readonly memory: MemoryBudget) {}

  async intercept(context: ExecutionContext, next: CallHandler) {
    const request = getRequest(context);
    if (!(await this.memory.reservePage(request.edge))) throw new Refusal(TOO_MANY_PAGES);
    const filters = Object.entries(request.query as object).filter(([name]) => !PLACES.includes(name));
    return withinList([rawPath(request), filters.sort()], () => next.handle());
  }
}

/** A ValidQuery that refuses unknown parameters. `isPaged` is false for short lists without pages. */
export const ListQuery =
  ({ isPaged = true } = {}): ParameterDecorator =>
  (target, key, index) => {
    Query(new QueryPipe(true))(target, key, index);
    if (!isPaged) return;
    const method = Object.getOwnPropertyDescriptor(target, key!)!;
    RouteConfig({ isListPage: true })(target, key!, method);
    UseInterceptors(ListCursors)(target, key!, method);
  };

/** The query of an operation without a body. Invalid parameters get 422 with an error per field. */
export const Inputs = (): ParameterDecorator => Query(new InputsPipe());

/** Adds the UUID path parameter to the route in the OpenAPI document. */
export function documentUuid(name: string, target: object, key: string | symbol | undefined): void {
  const method = Object.getOwnPropertyDescriptor(target, key!)!;
  ApiParam({ name, schema: { type: 'string', format: 'uuid' } })(target, key!, method);
}

/** A UUID in the path, in lower case. Any other text gets 404 (contract.md 3.4). */
export const UuidParam =
  (name = 'id', what = 'Resource'): ParameterDecorator =>
  (target, key, index) => {
    Param(name, { transform: (value: unknown) => parseId(value, what) })(target, key, index);
    documentUuid(name, target, key);
  };
