import {
  Body,
  createParamDecorator,
  Injectable,
  Param,
  Query,
  SetMetadata,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiParam } from '@nestjs/swagger';
import type { EventMetadata } from '../event-store/port.js';
import { DomainError } from '../../kernel/domain-error.js';
import { isUuid } from '../../kernel/ids.js';
import type { ApiCaller } from './merchant-directory.js';
import { Refusal, TOO_MANY_PAGES } from './problem.js';
import { keepJsonText } from '../json-text/json-text.js';
import { BodyPipe, InputsPipe, QueryPipe } from './validation.js';
import type { IdempotencyTicket } from '../idempotency/ticket.js';
import { withinList } from '../postgres/page-cursor.js';
import { MemoryBudget } from './request-body.js';
import { causeOf, merchantOf, rawPath, requestOf, ticketOf } from './request-state.js';

/** The id of the merchant who signed the request. */
export const MerchantId = createParamDecorator(
  (_: unknown, context: ExecutionContext): string => merchantOf(requestOf(context)).merchantId,
);

/** The merchant of the request, as the directory knows it. */
export const MerchantOfRequest = createParamDecorator((_: unknown, context: ExecutionContext): ApiCaller =>
  merchantOf(requestOf(context)),
);

/** {@link ticketOf} this request. */
export const Ticket = createParamDecorator((_: unknown, context: ExecutionContext): IdempotencyTicket =>
  ticketOf(requestOf(context)),
);

/** {@link causeOf} this request. */
export const Cause = createParamDecorator((_: unknown, context: ExecutionContext): EventMetadata =>
  causeOf(requestOf(context)),
);

/**
 * Marks a write whose handler gives its response to `CommandLoop.execute` on every path to success: where the store carries
 * responses, the commit detects that the key has one. Elsewhere the key is queried first. `inClear`: the response has no
 * secret and no personal data, so it is not sealed.
 */
export const StoresResponseWithEvents = ({ inClear = false } = {}): MethodDecorator =>
  SetMetadata(STORED_WITH_EVENTS, { inClear });
export const STORED_WITH_EVENTS = 'response stored with events';

/** Marks a route that parses its own body: `@Body()` is the Buffer that was signed, undefined when there was none. */
export const BodyAsBytes = (): MethodDecorator => RouteConfig({ bodyAsBytes: true });

/** The body as an instance of its DTO class; 422 naming each member at fault otherwise. */
export const ValidBody = (): ParameterDecorator => Body(new BodyPipe(false));

/** As {@link ValidBody}, for a request whose body may be left out: then it is checked as an empty object. */
export const OptionalBody = (): ParameterDecorator => Body(new BodyPipe(true));

const WithText = createParamDecorator((path: readonly string[], context: ExecutionContext): unknown => {
  const { body, edge } = requestOf(context);
  return keepJsonText(body, path, edge.rawBody.toString('utf8'));
});

/** As {@link ValidBody}; where the object at `path` came in a body, its rule reads its exact text, a `JsonText`. */
export const BodyWithText = (...path: readonly string[]): ParameterDecorator =>
  WithText(path, new BodyPipe(false));

/** The query string as an instance of the parameter's DTO class; 400 naming the parameter at fault otherwise. */
export const ValidQuery = (): ParameterDecorator => Query(new QueryPipe(false));

/** Parameters of lists that are no filters. */
const PLACES = ['page_cursor', 'page_size', 'totals'];

/** Cursors belong to their list and its filters: elsewhere they are 400. A page is read once there is memory for it. */
@Injectable()
class ListCursors implements NestInterceptor {
  constructor(private readonly memory: MemoryBudget) {}

  async intercept(context: ExecutionContext, next: CallHandler) {
    const request = requestOf(context);
    if (!(await this.memory.reservePage(request.edge))) throw new Refusal(TOO_MANY_PAGES);
    const filters = Object.entries(request.query as object).filter(([name]) => !PLACES.includes(name));
    return withinList([rawPath(request), filters.sort()], () => next.handle());
  }
}

/** As {@link ValidQuery}, of a list: 400 also for a parameter that it does not know. `isPaged`: false where the list is short. */
export const ListQuery =
  ({ isPaged = true } = {}): ParameterDecorator =>
  (target, key, index) => {
    Query(new QueryPipe(true))(target, key, index);
    if (!isPaged) return;
    const method = Object.getOwnPropertyDescriptor(target, key!)!;
    RouteConfig({ isListPage: true })(target, key!, method);
    UseInterceptors(ListCursors)(target, key!, method);
  };

/** As {@link ValidQuery}, where all inputs of an operation are in its query: 422 naming each parameter at fault. */
export const Inputs = (): ParameterDecorator => Query(new InputsPipe());

/** Throws `not_found` for what is no uuid: it names nothing (contract.md 3.4). */
export function uuidIn(parameters: unknown, name: string, what: string): string {
  const value = (parameters as Readonly<Record<string, unknown>>)[name];
  if (!isUuid(value)) throw DomainError.notFound(what);
  return value.toLowerCase();
}

/** The OpenAPI document has the path parameter of a route that takes it. */
export function documentUuid(name: string, target: object, key: string | symbol | undefined): void {
  const method = Object.getOwnPropertyDescriptor(target, key!)!;
  ApiParam({ name, schema: { type: 'string', format: 'uuid' } })(target, key!, method);
}

/** A path id. One that is no uuid names nothing: 404 (contract.md 3.4). */
export const UuidParam =
  (name = 'id', what = 'Resource'): ParameterDecorator =>
  (target, key, index) => {
    Param(name, { transform: (value: unknown) => uuidIn({ [name]: value }, name, what) })(target, key, index);
    documentUuid(name, target, key);
  };
