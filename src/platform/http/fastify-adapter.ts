import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { Inject, Injectable, Optional, StreamableFile, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type {
  DoneFuncWithErrOrRes,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  HookHandlerDoneFunction,
  RouteHandlerMethod,
} from 'fastify';
import { httpConfig, type HttpConfig } from '../config/config.js';
import { failpoint } from '../failpoints.js';
import { Log } from '../telemetry/logger.js';
import { isTracing } from '../telemetry/tracing.js';
import {
  EVERY_LISTENER,
  IDLE_TIMEOUT_MS,
  Listener,
  listenerConstraint,
  refuseClientError,
  REQUEST_TIMEOUT_MS,
  serverOptions,
} from './connections.js';
import { sendFavicon } from './pages/assets.js';
import { acceptsHtml } from './pages/document.js';
import { sendError, sendRefusal } from './problem.filter.js';
import {
  applyProblem,
  BUSY,
  HTTPS_REQUIRED,
  JSON_TYPE,
  PROBLEM_TYPE,
  TOO_MANY_PAGES,
  type HttpProblem,
} from './problem.js';
import { addressLimit, toClient, LocalRateLimiter, tooManyRequests } from './rate-limit.guard.js';
import { Reply } from './reply.js';
import { MemoryBudget, settleBody } from './request-body.js';
import { loggedRequest, RequestLog } from './request-log.js';
import { isQueryUtf8, rawPath, RequestState } from './request-state.js';
import { recordRequest, startRequestSpan } from './request-telemetry.js';
import { RouteTable } from './route-table.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set by `@ListQuery()`: the response is a page of about `PAGE_BYTES` at most. */
    isListPage?: boolean;
    /** Set by `@BodyAsBytes()`: the route parses its body. */
    bodyAsBytes?: boolean;
  }
}

/** The length limit of path parameters, longer than any request line, so that an overlong id gets 404. */
const MAX_PARAM_LENGTH = 16_384;

/** Nest's Fastify adapter with one router for all listeners and one mapping of errors. It parses no body. */
export class EdgeAdapter extends FastifyAdapter {
  readonly routes = new RouteTable();
  readonly api: Listener;

  constructor(config: HttpConfig) {
    const { keepAliveTimeout, requestTimeout, ...http } = serverOptions(REQUEST_TIMEOUT_MS);
    super({
      skipMiddie: true,
      keepAliveTimeout,
      requestTimeout,
      connectionTimeout: IDLE_TIMEOUT_MS,
      http,
      routerOptions: { maxParamLength: MAX_PARAM_LENGTH, constraints: { listener: listenerConstraint } },
      logger: false,
      trustProxy: config.trustProxy ?? false,
      requestIdHeader: false,
      genReqId: () => randomUUID(),
      frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => {
        beginRequest(request, reply, config);
        sendError(request, reply, error);
      },
      clientErrorHandler: (error: NodeJS.ErrnoException, socket: Socket) => refuseClientError(error, socket),
    });
    const fastify = this.getInstance();
    this.api = new Listener(fastify.server, config.maxConnections);
    fastify.decorateRequest('edge');
    fastify.removeAllContentTypeParsers();
    // A body is read by the guard of its API, or by IdempotencyInterceptor after the guards of its page.
    fastify.addContentTypeParser('*', (_request, _payload, done) => done(null));
    fastify.addHook('onRoute', (route) => {
      this.routes.add(route);
      const { sharedWith, ...config } = route.config ?? {};
      // Fastify adds the HEAD of each GET.
      if (sharedWith === undefined || route.method === 'HEAD') return;
      const { method, handler } = route;
      const constraints = { listener: sharedWith.page.name };
      fastify.route({ method, url: sharedWith.url, handler, config, constraints });
    });
    fastify.get('/favicon.ico', { constraints: { listener: EVERY_LISTENER } }, sendFavicon);
    fastify.setErrorHandler((error, request, reply) => sendError(request, reply, error));
  }

  override registerParserMiddleware(): void {}

  /** Serves unknown paths with the `@All('*')` route, behind the global guards. */
  override all(...route: unknown[]): FastifyInstance {
    return this.getInstance().setNotFoundHandler(route.at(-1) as RouteHandlerMethod);
  }

  override reply(response: unknown, value: unknown, statusCode?: number): FastifyReply {
    const reply = response as FastifyReply;
    if (value instanceof StreamableFile) return sendStream(reply, value);
    const body = value instanceof Reply ? value.body : value;
    const status = value instanceof Reply ? value.status : statusCode;
    if (status !== undefined) reply.code(status);
    if (body === undefined || body === null || body === '') return reply.send();
    reply.header('content-type', reply.statusCode < 400 ? JSON_TYPE : PROBLEM_TYPE);
    return reply.send(typeof body === 'string' ? body : JSON.stringify(body));
  }

  override setErrorHandler(): FastifyInstance {
    return this.getInstance();
  }

  override setNotFoundHandler(): FastifyInstance {
    return this.getInstance();
  }
}

/** Streams a file to a connected client. If the source fails, the response ends without its final chunk. */
function sendStream(reply: FastifyReply, file: StreamableFile): FastifyReply {
  const { method, edge } = reply.request;
  reply.header('content-type', file.getHeaders().type);
  if (method !== 'HEAD' && !edge.isReleased) return reply.send(file.getStream());
  file.getStream().destroy();
  return reply.send();
}

/** The value of the HSTS header: one year, without includeSubDomains. */
const HSTS = 'max-age=31536000';

/** Creates the request state and sets the common headers. HSTS is sent over HTTPS only (RFC 6797). */
function beginRequest(request: FastifyRequest, reply: FastifyReply, { requireHttps }: HttpConfig): void {
  const { listener } = request.raw;
  request.edge = new RequestState();
  request.edge.client = listener?.isShell ? 'shell' : toClient(request.ip);
  request.edge.page = listener?.page ?? null;
  reply.header('request-id', request.id);
  reply.header('cache-control', 'no-store');
  if (request.edge.page !== null) reply.header('x-content-type-options', 'nosniff');
  if (requireHttps && request.protocol === 'https') reply.header('strict-transport-security', HSTS);
}

/** The headers that reveal a proxy. Every proxy sends at least one of these headers. */
const FORWARDED = ['x-forwarded-for', 'x-forwarded-proto', 'forwarded', 'x-real-ip', 'via'];

@Injectable()
export class EdgeHooks implements OnModuleInit {
  private readonly addresses: LocalRateLimiter;

  constructor(
    private readonly host: HttpAdapterHost<EdgeAdapter>,
    @Inject(httpConfig.KEY) private readonly config: HttpConfig,
    private readonly memory: MemoryBudget,
    private readonly log: Log,
    @Optional() @Inject(RequestLog) private readonly requests: RequestLog | null = null,
  ) {
    this.addresses = new LocalRateLimiter(addressLimit(config));
  }

  onModuleInit(): void {
    const fastify = this.host.httpAdapter.getInstance();
    fastify.addHook('onRequest', (request, reply, done) => this.receive(request, reply, done));
    fastify.addHook('onSend', (request, reply, payload, done) => this.send(request, reply, payload, done));
    fastify.addHook('onResponse', (request, reply, done) => this.record(request, reply, done));
  }

  private receive(request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void {
    beginRequest(request, reply, this.config);
    const refusal = this.refuse(request) ?? refuseOnPage(request, this.host.httpAdapter.routes);
    const { edge } = request;
    edge.route = (request.is404 ? null : request.routeOptions.url) ?? null;
    reply.raw.once('close', () => this.memory.release(edge));
    if (refusal !== null) sendRefusal(request, reply, refusal);
    else if (isTracing()) startRequestSpan(request, done);
    else done();
  }

  private refuse(request: FastifyRequest): HttpProblem | null {
    const { raw, edge } = request;
    if (raw.headers.host === undefined && raw.httpVersion === '1.1')
      return { status: 400, detail: 'The Host header is required' };
    // Load balancers send health checks without HTTPS.
    const isOpen = raw.listener?.isShell === true || rawPath(request).startsWith('/health/');
    if (this.config.requireHttps && request.protocol !== 'https' && !isOpen) return HTTPS_REQUIRED;
    const { page, client } = edge;
    const blockedUntil = this.addresses.take(page === null ? client : `${page.name} ${client}`);
    if (blockedUntil !== null) return tooManyRequests(blockedUntil, Date.now());
    if (isQueryUtf8(request)) return null;
    return { status: 400, detail: 'The query string must be percent-encoded UTF-8' };
  }

  private send(
    request: FastifyRequest,
    reply: FastifyReply,
    payload: unknown,
    done: DoneFuncWithErrOrRes,
  ): void {
    settleBody(request, reply);
    if (request.raw.listener?.isDraining) reply.header('connection', 'close');
    done(null, this.withinBudget(request, reply, payload));
  }

  private record(request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void {
    // Only keyed requests trigger the failpoint, so that no health check does.
    if (request.edge.idempotency !== null) failpoint('response.sent');
    recordRequest(this.log, request, reply);
    const logged = this.requests === null ? null : loggedRequest(request, reply);
    if (logged !== null) this.requests?.record(logged);
    done();
  }

  /** Returns the payload if the MemoryBudget allows it, else a problem. A write always gets its response. */
  private withinBudget(request: FastifyRequest, reply: FastifyReply, payload: unknown): unknown {
    const { isListPage = false } = request.routeOptions.config;
    const isBounded = request.edge.page === null || isListPage;
    if (!isBounded || (typeof payload !== 'string' && !Buffer.isBuffer(payload))) return payload;
    const isRequired = request.method !== 'GET' && request.method !== 'HEAD';
    return this.memory.reserveResponse(request.edge, payload.length, isRequired)
      ? payload
      : applyProblem(reply, isListPage ? TOO_MANY_PAGES : BUSY);
  }
}

/**
 * Returns the problem of a request to a page, or null. The shell's socket refuses proxies, because all their
 * clients would count as the shell. A program gets 405 for a wrong method, except from a widget.
 */
function refuseOnPage(request: FastifyRequest, routes: RouteTable): HttpProblem | null {
  const { page } = request.edge;
  if (page === null) return null;
  const isShell = request.raw.listener?.isShell === true;
  const { url = '*' } = request.routeOptions;
  if (isShell && FORWARDED.some((name) => request.headers[name] !== undefined))
    return { status: 403, detail: 'The socket accepts no proxies' };
  if (isShell && !url.startsWith('/admin/v1/'))
    return { status: 404, detail: 'The socket serves /admin/v1 alone' };
  const mayFindPage = page.role === 'widget' || !url.endsWith('*') || acceptsHtml(request);
  return mayFindPage ? null : routes.wrongMethod(request);
}
