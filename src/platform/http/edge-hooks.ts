import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config/config.js';
import { failpoint } from '../failpoints.js';
import type { Log } from '../telemetry/logger.js';
import { isTracing } from '../telemetry/tracing.js';
import type { Admission, Authentication, Authentications } from './authentication.js';
import { ListenerChecks, type ListenerConfig } from './listener-checks.js';
import type { KeyedRequests } from './keyed-requests.js';
import { parseJsonBody, requireReadable } from './json-body.js';
import { callerOf } from './merchant-directory.js';
import { MemoryBudget, SMALL_BYTES } from './memory-budget.js';
import { isDeclaredTooLarge, BODY_TOO_LARGE, readBody, sendContinue, settleBody } from './request-body.js';
import { BUSY, applyProblem, sendProblem, TOO_MANY_PAGES } from './problem.js';
import type { RequestLog } from './request-log.js';
import { endRequestSpan, loggedRequest, recordRequest, startRequestSpan, rawPath } from './request-state.js';

type Done = (error?: Error) => void;
type Hook = (request: FastifyRequest, reply: FastifyReply, done: Done) => void;

type EdgeConfig = ListenerConfig & Pick<Config, 'requestMemoryMib'>;

/** What the hooks need of the application; it is there once the modules are initialized. */
interface EdgeServices {
  readonly authentications: Authentications;
  readonly admission: Admission;
  readonly keyed: KeyedRequests;
  readonly log: Log;
  readonly requests: RequestLog | null;
}

/**
 * Every request as Fastify hooks, which cost a fraction of Nest's guards, pipes and interceptors: `onRequest` before the body
 * is read, `preValidation` after it, `onSend` before the response is sent. Nothing is parsed before the request is authentic.
 */
export class EdgeHooks {
  private readonly checks: ListenerChecks;
  /** The one bound of the process, for the bodies of pages too. */
  readonly memory: MemoryBudget;
  private services: EdgeServices | null = null;
  private draining = false;

  constructor(config: EdgeConfig) {
    this.checks = new ListenerChecks(config);
    this.memory = new MemoryBudget(config.requestMemoryMib << 20);
  }

  connect(services: EdgeServices): void {
    this.services = services;
  }

  /** From now on every response ends its connection. */
  drain(): void {
    this.draining = true;
  }

  /** Of every route. */
  readonly onRequest: Hook = (request, reply, done) => {
    const refusal = this.checks.receive(request, reply);
    const { edge } = request;
    reply.raw.once('close', () => this.memory.release(edge));
    if (refusal !== null) sendProblem(reply, refusal);
    else if (isTracing()) startRequestSpan(request, done);
    else done();
  };

  /** onRequest of a known route. */
  onRouteRequest(route: string): Hook {
    return (request, reply, done) => {
      request.edge.route = route;
      if (this.identify(route, request, reply, done)) return;
      if (isDeclaredTooLarge(request.raw)) sendProblem(reply, BODY_TOO_LARGE);
      else proceed(request, reply, done);
    };
  }

  /** onRequest of an unknown path: false where no API is. Under an API only callers with a key learn which paths exist. */
  onUnknownPath(request: FastifyRequest, reply: FastifyReply, done: Done): boolean {
    return this.identify(rawPath(request), request, reply, done);
  }

  /** Parses nothing: the bytes are kept as they came. */
  parse({ edge }: FastifyRequest, payload: IncomingMessage, done: (error: Error | null) => void): void {
    const room = (bytes: number): boolean => this.memory.reserveBody(edge, bytes);
    readBody(payload, room, (error, body) => {
      if (body !== undefined) edge.rawBody = body;
      done(error);
    });
  }

  /** Of every route. */
  readonly preValidation: Hook = (request, reply, done) => {
    const { authentication } = request.edge;
    if (authentication === null) {
      parseBody(request);
      done();
      return;
    }
    this.admitTo(authentication, request, reply).then((admitted) => {
      if (admitted) done();
    }, done);
  };

  /** Of every route. */
  readonly onSend = (
    request: FastifyRequest,
    reply: FastifyReply,
    payload: unknown,
    done: (error: Error | null, payload?: unknown) => void,
  ): void => {
    settleBody(request, reply);
    if (this.draining) reply.header('connection', 'close');
    const { edge } = request;
    if (edge?.ticket && edge.ticket.key !== null) {
      const { keyed } = this.connected();
      keyed.settle(edge.ticket, request, reply, payload).then((final) => done(null, final), done);
    } else done(null, this.withinBudget(request, reply, payload));
  };

  /** Of every route. */
  readonly onResponse: Hook = (request, reply, done) => {
    // Of keyed requests alone: a health check must not set it off.
    if (request.edge.ticket) failpoint('response.sent');
    if (request.edge.span !== undefined) endRequestSpan(request.edge.span, request, reply);
    if (this.services !== null) {
      recordRequest(this.services.log, request, reply);
      this.logRequest(this.services, request, reply);
    }
    done();
  };

  /** The payload, or a problem when there is no memory for it. A write always gets its response. */
  private withinBudget(request: FastifyRequest, reply: FastifyReply, payload: unknown): unknown {
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload;
    const isRequired = request.method !== 'GET' && request.method !== 'HEAD';
    return this.memory.reserveResponse(request.edge, payload.length, isRequired)
      ? payload
      : applyProblem(reply, request.routeOptions.config.isListPage ? TOO_MANY_PAGES : BUSY);
  }

  private logRequest({ requests }: EdgeServices, request: FastifyRequest, reply: FastifyReply): void {
    const logged = requests === null ? null : loggedRequest(request, reply);
    if (logged !== null) requests?.record(logged);
  }

  private connected(): EdgeServices {
    if (this.services === null)
      throw new Error('the edge serves requests only once the modules are initialized');
    return this.services;
  }

  /** False for an open path: then nothing was done. */
  private identify(path: string, request: FastifyRequest, reply: FastifyReply, done: Done): boolean {
    const authentication = this.connected().authentications.of(path);
    if (authentication === null) return false;
    if (request.edge.route !== null) failpoint('request.received');
    request.edge.authentication = authentication;
    authentication.identify(request, reply).then((merchant) => {
      if (merchant === null) return;
      request.edge.identifiedMerchant = merchant;
      proceed(request, reply, done);
    }, done);
    return true;
  }

  private async admitTo(
    authentication: Authentication,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<boolean> {
    const { admission, keyed } = this.connected();
    const { edge } = request;
    const { identifiedMerchant: merchant } = edge;
    if (merchant === null) throw new Error('a request that names no merchant came past its authentication');
    if (authentication.verify?.(request, reply, merchant) === false) return false;
    if (!(await admission.admit(request, reply, merchant))) return false;
    edge.merchant = merchant;
    failpoint('request.authenticated');
    // Before the database reads a page: many clients that read nothing would each have one built.
    if (request.routeOptions.config.isListPage && !this.memory.hasRoom(edge, SMALL_BYTES)) {
      sendProblem(reply, TOO_MANY_PAGES);
      return false;
    }
    if (!(await keyed.acquire(request, reply, callerOf(merchant)))) return false;
    parseBody(request);
    return true;
  }
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** By `@StoresResponseWithEvents()`: a repeat needs no query before it runs. */
    storesResponseWithEvents?: boolean;
    /** By `@ListQuery()`: the response is a page of at most about `PAGE_BYTES`. */
    isListPage?: boolean;
    /** The route parses its body itself (`@BodyAsBytes()`). */
    bodyAsBytes?: boolean;
  }
}

/** Puts the parsed body on the request. Throws DomainError, and Refusal because of its headers. */
function parseBody(request: FastifyRequest): void {
  const { rawBody } = request.edge;
  if (rawBody.length === 0) return;
  requireReadable(request.headers);
  request.body = request.routeOptions.config.bodyAsBytes ? rawBody : parseJsonBody(rawBody);
}

function proceed(request: FastifyRequest, reply: FastifyReply, done: Done): void {
  sendContinue(request, reply);
  done();
}
