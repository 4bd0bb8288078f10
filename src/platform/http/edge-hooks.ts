import { Inject, Injectable, Optional, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { httpConfig, type HttpConfig } from '../config/config.js';
import { failpoint } from '../failpoints.js';
import { Log } from '../telemetry/logger.js';
import { isTracing } from '../telemetry/tracing.js';
import { addressLimit, AddressRateLimiter } from './address.js';
import { EdgeAdapter } from './fastify-adapter.js';
import { beginRequest, HTTPS_REQUIRED, isForwarded } from './listener-checks.js';
import { MemoryBudget } from './memory-budget.js';
import { acceptsHtml } from './pages/document.js';
import { sendRefusal } from './problem-filter.js';
import {
  applyProblem,
  BUSY,
  HOST_REQUIRED,
  QUERY_NOT_UTF8,
  TOO_MANY_PAGES,
  type HttpProblem,
} from './problem.js';
import { tooManyRequests } from './rate-limit.js';
import { settleBody } from './request-body.js';
import { RequestLog } from './request-log.js';
import {
  endRequestSpan,
  isHealthPath,
  isQueryUtf8,
  loggedRequest,
  recordRequest,
  startRequestSpan,
} from './request-state.js';
import type { RouteTable } from './route-table.js';

type Done = (error?: Error) => void;
type DoneSending = (error: Error | null, payload?: unknown) => void;

/** The Fastify hooks of every request: before its route, before its response is sent, and after it. */
@Injectable()
export class EdgeHooks implements OnModuleInit {
  private readonly addresses: AddressRateLimiter;

  constructor(
    private readonly host: HttpAdapterHost,
    @Inject(httpConfig.KEY) private readonly config: HttpConfig,
    private readonly memory: MemoryBudget,
    private readonly log: Log,
    @Optional() @Inject(RequestLog) private readonly requests: RequestLog | null = null,
  ) {
    this.addresses = new AddressRateLimiter(addressLimit(config));
  }

  onModuleInit(): void {
    const adapter: unknown = this.host.httpAdapter;
    if (!(adapter instanceof EdgeAdapter)) return;
    const fastify = adapter.getInstance();
    fastify.addHook('onRequest', (request, reply, done) =>
      this.receive(request, reply, adapter.routes, done),
    );
    fastify.addHook('onSend', (request, reply, payload, done) => this.send(request, reply, payload, done));
    fastify.addHook('onResponse', (request, reply, done) => this.record(request, reply, done));
  }

  private receive(request: FastifyRequest, reply: FastifyReply, routes: RouteTable, done: Done): void {
    beginRequest(request, reply, this.config);
    const refusal = this.refuse(request) ?? refuseOnPage(request, routes);
    const { edge } = request;
    edge.route = (request.is404 ? null : request.routeOptions.url) ?? null;
    reply.raw.once('close', () => this.memory.release(edge));
    if (refusal !== null) sendRefusal(request, reply, refusal);
    else if (isTracing()) startRequestSpan(request, done);
    else done();
  }

  /** What is checked before anything else, on every listener. */
  private refuse(request: FastifyRequest): HttpProblem | null {
    const { raw, edge } = request;
    if (raw.headers.host === undefined && raw.httpVersion === '1.1') return HOST_REQUIRED;
    const isOpen = raw.listener?.isShell === true || isHealthPath(request);
    if (this.config.requireHttps && request.protocol !== 'https' && !isOpen) return HTTPS_REQUIRED;
    // Each listener has separate counts.
    const { page, client } = edge;
    const blockedUntil = this.addresses.take(page === null ? client : `${page.name} ${client}`);
    if (blockedUntil !== null) return tooManyRequests(blockedUntil, Date.now());
    return isQueryUtf8(request) ? null : QUERY_NOT_UTF8;
  }

  private send(request: FastifyRequest, reply: FastifyReply, payload: unknown, done: DoneSending): void {
    settleBody(request, reply);
    if (request.raw.listener?.isDraining) reply.header('connection', 'close');
    done(null, this.withinBudget(request, reply, payload));
  }

  private record(request: FastifyRequest, reply: FastifyReply, done: Done): void {
    // Of keyed requests alone: a health check must not set it off.
    if (request.edge.idempotency !== null) failpoint('response.sent');
    if (request.edge.span !== undefined) endRequestSpan(request.edge.span, request, reply);
    recordRequest(this.log, request, reply);
    const logged = this.requests === null ? null : loggedRequest(request, reply);
    if (logged !== null) this.requests?.record(logged);
    done();
  }

  /** The payload, or a problem when there is no memory for it. A write always gets its response. */
  private withinBudget(request: FastifyRequest, reply: FastifyReply, payload: unknown): unknown {
    const { isListPage = false } = request.routeOptions.config;
    const isBounded = request.edge !== undefined && (request.edge.page === null || isListPage);
    if (!isBounded || (typeof payload !== 'string' && !Buffer.isBuffer(payload))) return payload;
    const isRequired = request.method !== 'GET' && request.method !== 'HEAD';
    return this.memory.reserveResponse(request.edge, payload.length, isRequired)
      ? payload
      : applyProblem(reply, isListPage ? TOO_MANY_PAGES : BUSY);
  }
}

/**
 * The socket of the shell leads to the admin API alone, and a proxy in front of it would make everybody the shell. A program
 * that calls a page's path by a wrong method gets 405; people may find a page there. Strangers who open a link learn of no
 * routes: 404.
 */
function refuseOnPage(request: FastifyRequest, routes: RouteTable): HttpProblem | null {
  const { page } = request.edge;
  if (page === null) return null;
  const isShell = request.raw.listener?.isShell === true;
  const { url = '*' } = request.routeOptions;
  if (isShell && isForwarded(request.raw)) return { status: 403, detail: 'The socket is for no proxy' };
  if (isShell && !url.startsWith('/admin/v1/'))
    return { status: 404, detail: 'The socket serves /admin/v1 alone' };
  const mayFindPage = page.role === 'widget' || !url.endsWith('*') || acceptsHtml(request);
  return mayFindPage ? null : routes.wrongMethod(request);
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** By `@ListQuery()`: the response is a page of at most about `PAGE_BYTES`. */
    isListPage?: boolean;
    /** The route parses its body itself (`@BodyAsBytes()`). */
    bodyAsBytes?: boolean;
  }
}
