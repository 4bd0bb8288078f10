import {
  applyDecorators,
  Catch,
  Controller,
  createParamDecorator,
  HttpCode,
  Injectable,
  Post,
  RequestMethod,
  SetMetadata,
  UseFilters,
  UseInterceptors,
  type ArgumentsHost,
  type CallHandler,
  type ExceptionFilter,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { METHOD_METADATA } from '@nestjs/common/internal';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../../../kernel/domain-error.js';
import type { HttpConfig, ProcessConfig } from '../../config/config.js';
import { isObject } from '../../dto/field.js';
import type { EventMetadata } from '../../event-store/port.js';
import { causeOf } from '../decorators.js';
import type { EdgeAdapter } from '../fastify-adapter.js';
import { parseJsonBody, requireReadable } from '../json-body.js';
import { isDeclaredTooLarge, readBody, sendContinue, tooLarge } from '../request-body.js';
import type { ScopedCaller } from '../admin/scoped-controller.js';
import type { PageMessages } from './document.js';
import { localeOf, type Locale } from './locale.js';
import { requestOf } from '../request-state.js';

/**
 * A page for people, with its own listener (its own origin). A context declares it once and serves it with
 * {@link PageController}s; {@link PageListener} does what all pages have in common (docs/adr/0172).
 */
export interface Page {
  /** Its folder in widgets/. */
  readonly name: string;
  /** Its built files are at `<path>/assets/<file>`. */
  readonly path: string;
  /** Processes with this role serve it. */
  readonly role: Exclude<ProcessConfig['roles'][number], 'api' | 'worker'>;
  readonly port: (config: HttpConfig) => number;
  readonly messages: Readonly<Record<Locale, PageMessages>>;
  /** What it may load and display besides scripts and styles: directives of CSP. */
  readonly media: string;
  /** How long a browser may take to send a request. */
  readonly requestTimeoutMs: number;
}

export type PageHandler = (request: FastifyRequest, reply: FastifyReply) => unknown;
export interface PageRoute {
  readonly page: Page;
  readonly method: (typeof VERBS)[number];
  readonly url: string;
  readonly handler: PageHandler;
}

const VERBS = ['GET', 'POST', 'PATCH', 'DELETE'] as const;

const PAGE = Symbol('page');

/** The page whose controller has this handler; null for a handler of the API. */
export function pageOf(handler: object): Page | null {
  return (Reflect.getMetadata(PAGE, handler) as Page | undefined) ?? null;
}

const SHARED = Symbol('shared with a page');

/** Where a page serves the handler in addition to its own path; null for most handlers. */
export function sharedRouteOf(handler: object): Pick<PageRoute, 'page' | 'url'> | null {
  return (Reflect.getMetadata(SHARED, handler) as Pick<PageRoute, 'page' | 'url'> | undefined) ?? null;
}

/** Serves the route of another listener on that of the page too, at this path. */
export const SharedWith = (page: Page, url: string): MethodDecorator =>
  applyDecorators(SetMetadata(SHARED, { page, url }), UseFilters(ListenerErrors));

/** A controller whose routes are reachable on the listener of the page and nowhere else. */
export function PageController(page: Page, path = ''): ClassDecorator {
  return (target) => {
    // Nest passes the metadata of methods to the adapter, not that of classes.
    for (const name of Object.getOwnPropertyNames(target.prototype)) {
      const method: unknown = (target.prototype as Record<string, unknown>)[name];
      if (typeof method !== 'function') continue;
      const verb = Reflect.getMetadata(METHOD_METADATA, method) as RequestMethod | undefined;
      if (verb !== undefined && !VERBS.some((each) => RequestMethod[each] === verb))
        throw new Error(`${target.name}.${name}: the routes of a page are ${VERBS.join(', ')}`);
      Reflect.defineMetadata(PAGE, page, method);
    }
    applyDecorators(Controller(path), UseInterceptors(PageBody), UseFilters(ListenerErrors))(target);
  };
}

/** Leaves errors to the listener of the page, which displays them as a document to people. */
@Catch()
class ListenerErrors implements ExceptionFilter {
  catch(error: unknown, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    if (!reply.sent) reply.send(error instanceof Error ? error : new Error(String(error)));
  }
}

/** A call of a page's script: POST, 200. */
export const PageCall = (path: string): MethodDecorator => applyDecorators(Post(path), HttpCode(200));

/** Takes a body of any type, as a Buffer of less than this many bytes. */
export const BytesBelow = (limit: number): MethodDecorator => SetMetadata(PageBody.LIMIT, limit);

/** What a guard of the page left in `request.edge.visitor`, and what else a use case needs of a request. */
export type Visit<Visitor = unknown> = Visitor & {
  readonly ip: string;
  readonly locale: Locale;
  readonly cause: EventMetadata;
};
export const Visit = createParamDecorator((_: unknown, context: ExecutionContext): Visit => {
  const request = requestOf(context);
  const { ip, edge } = request;
  return { ...(edge.visitor as object), ip, locale: localeOf(request), cause: causeOf(request) };
});

/** JSON bodies of this many bytes and more are refused with 413. */
const JSON_LIMIT = 16_384;

/**
 * Reads the body of a call: after the guards, so that nothing is read of what a stranger sends, and into memory that is
 * bounded for all of them. A JSON object, or the bytes where the route says `@BytesBelow`. The edge reads those of an API.
 */
@Injectable()
export class PageBody implements NestInterceptor {
  static readonly LIMIT = 'bytes below';

  constructor(private readonly host: HttpAdapterHost) {}

  async intercept(context: ExecutionContext, next: CallHandler) {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    if (request.method !== 'GET' && request.edge.page !== null) {
      const limit = Reflect.getMetadata(PageBody.LIMIT, context.getHandler()) as number | undefined;
      const body = await this.read(request, http.getResponse<FastifyReply>(), limit ?? JSON_LIMIT);
      request.edge.rawBody = body;
      const isEmpty = body.length === 0 && request.headers['content-type'] === undefined;
      if (!isEmpty || limit !== undefined)
        request.body = limit === undefined ? objectIn(request, body) : body;
      const { idempotencyScope = null } = (request.edge.visitor ?? {}) as Partial<ScopedCaller>;
      request.edge.idempotencyScope = idempotencyScope;
    }
    return next.handle();
  }

  private read(request: FastifyRequest, reply: FastifyReply, limit: number): Promise<Buffer> {
    const { edge, raw } = request;
    if (isDeclaredTooLarge(raw, limit)) throw new DomainError('too_large', tooLarge(limit));
    sendContinue(request, reply);
    const { memory } = (this.host.httpAdapter as unknown as EdgeAdapter).edge;
    reply.raw.once('close', () => memory.release(edge));
    const room = (bytes: number): boolean => memory.reserveBody(edge, bytes);
    return new Promise((resolve, reject) =>
      readBody(raw, room, (error, body) => (error === null ? resolve(body!) : reject(error)), limit),
    );
  }
}

function objectIn({ headers }: FastifyRequest, body: Buffer): object {
  requireReadable(headers);
  const value = parseJsonBody(body);
  if (!isObject(value)) throw new DomainError('bad_request', 'The body must be a JSON object');
  return value;
}
