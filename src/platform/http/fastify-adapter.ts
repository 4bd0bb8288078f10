import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { HttpConfig } from '../config/config.js';
import {
  IDLE_TIMEOUT_MS,
  Listener,
  refuseClientError,
  REQUEST_TIMEOUT_MS,
  serverOptions,
} from './connections.js';
import { beginRequest } from './listener-checks.js';
import { sendFavicon } from './pages/assets.js';
import type { PageHandler } from './pages/page.js';
import { sendError } from './problem-filter.js';
import { JSON_TYPE, PROBLEM_TYPE } from './problem.js';
import { Reply, StreamReply } from './reply.js';
import { EVERY_LISTENER, RouteTable } from './route-table.js';

/** Longer than any request line may be: an overlong id is an unknown id, not a different error. */
const MAX_PARAM_LENGTH = 16_384;

/** Nest's Fastify adapter: one router for all listeners, which parses no body and has one mapping of errors. */
export class EdgeAdapter extends FastifyAdapter {
  readonly routes: RouteTable;
  /** The listener of the API; those of pages are opened by PagesModule. */
  readonly api: Listener;

  constructor(config: HttpConfig) {
    const { keepAliveTimeout, requestTimeout, ...http } = serverOptions(REQUEST_TIMEOUT_MS);
    const routes = new RouteTable();
    super({
      skipMiddie: true,
      keepAliveTimeout,
      requestTimeout,
      connectionTimeout: IDLE_TIMEOUT_MS,
      http,
      routerOptions: { maxParamLength: MAX_PARAM_LENGTH, constraints: { listener: routes.constraint } },
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
    this.routes = routes;
    const fastify = this.getInstance();
    this.api = new Listener(fastify.server, config.maxConnections);
    fastify.decorateRequest('edge');
    fastify.removeAllContentTypeParsers();
    // A body is read by the guard of its API, or by BodyInterceptor after the guards of its page.
    fastify.addContentTypeParser('*', (_request, _payload, done) => done(null));
    fastify.addHook('onRoute', (route) => {
      routes.add(route);
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

  /** Bodies are kept as bytes and parsed after the request was found authentic. */
  override registerParserMiddleware(): void {}

  /** The one route for all methods takes what no other does, behind the same guards. */
  override all(...route: unknown[]): FastifyInstance {
    return this.getInstance().setNotFoundHandler(route.at(-1) as PageHandler);
  }

  /** Serializes once: what is sent is what an Idempotency-Key stores. */
  override reply(response: unknown, body: unknown, statusCode?: number): FastifyReply {
    const reply = response as FastifyReply;
    if (statusCode !== undefined) reply.code(statusCode);
    if (body instanceof Reply) {
      reply.code(body.status);
      if (body.body.length === 0) return reply.send();
      return reply.header('content-type', body.status < 400 ? JSON_TYPE : PROBLEM_TYPE).send(body.body);
    }
    if (body instanceof StreamReply) return sendStream(reply, body);
    if (body === undefined || body === null) return reply.send();
    if (typeof body === 'string' || Buffer.isBuffer(body)) return reply.send(body);
    return reply.header('content-type', JSON_TYPE).send(JSON.stringify(body));
  }

  /** One mapping of errors for Nest's handlers, hooks and the framework itself. */
  override setErrorHandler(): FastifyInstance {
    return this.getInstance();
  }

  override setNotFoundHandler(): FastifyInstance {
    return this.getInstance();
  }
}

/** A list that has no reader is not read: of a HEAD, and of a client that has left. */
function sendStream(reply: FastifyReply, { contentType, body }: StreamReply): FastifyReply {
  const { method, edge } = reply.request;
  reply.header('content-type', contentType);
  if (method !== 'HEAD' && !edge.isReleased) return reply.send(body);
  body.destroy();
  return reply.send();
}
