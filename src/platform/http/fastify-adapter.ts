import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { HttpConfig } from '../config/config.js';
import { listenerOptions } from './listener-checks.js';
import { guardConnections, REQUEST_TIMEOUT_MS, type ConnectionGuard, type Drainable } from './connections.js';
import { EdgeHooks } from './edge-hooks.js';
import { sendFavicon } from './pages/assets.js';
import { pageOf, sharedRouteOf, type PageHandler, type PageRoute } from './pages/page.js';
import { sendError } from './problem-filter.js';
import { JSON_TYPE, PROBLEM_TYPE, sendProblem } from './problem.js';
import { Reply, StreamReply } from './reply.js';
import { BODY_LIMIT } from './request-body.js';
import { rawPath } from './request-state.js';
import { RouteTable } from './route-table.js';

/** Longer than any request line may be: an overlong id is an unknown id, not a different error. */
const MAX_PARAM_LENGTH = 16_384;

/** Nest's Fastify adapter with the edge of contract.md 2, 3, 4 and 5 around every route. */
export class EdgeAdapter extends FastifyAdapter implements Drainable {
  readonly edge: EdgeHooks;
  readonly connections: ConnectionGuard;
  readonly routes = new RouteTable();
  readonly pageRoutes: PageRoute[] = [];

  constructor(config: HttpConfig) {
    super({
      skipMiddie: true,
      bodyLimit: BODY_LIMIT - 1,
      requestTimeout: REQUEST_TIMEOUT_MS,
      routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
      logger: false,
      ...listenerOptions(config, sendError),
    });
    this.edge = new EdgeHooks(config);
    this.prepare(this.getInstance());
    this.connections = guardConnections(this.getInstance().server, config.maxConnections);
  }

  drain(): void {
    this.edge.drain();
  }

  /** A route of a page is kept for the listener of its page (docs/adr/0172). */
  override get(...route: unknown[]): FastifyInstance {
    return this.keepForPage('GET', route) ?? super.get(...route);
  }

  override post(...route: unknown[]): FastifyInstance {
    return this.keepForPage('POST', route) ?? super.post(...route);
  }

  override patch(...route: unknown[]): FastifyInstance {
    return this.keepForPage('PATCH', route) ?? super.patch(...route);
  }

  override delete(...route: unknown[]): FastifyInstance {
    return this.keepForPage('DELETE', route) ?? super.delete(...route);
  }

  /** Bodies are kept as bytes and parsed by the edge, after the request was found authentic. */
  override registerParserMiddleware(): void {}

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

  private keepForPage(method: PageRoute['method'], route: readonly unknown[]): FastifyInstance | null {
    const [url, handler] = route as [string, PageHandler];
    const shared = sharedRouteOf(handler);
    if (shared !== null) this.pageRoutes.push({ ...shared, method, handler });
    const page = pageOf(handler);
    if (page === null) return null;
    this.pageRoutes.push({ page, method, url, handler });
    return this.getInstance();
  }

  private prepare(fastify: FastifyInstance): void {
    fastify.decorateRequest('edge');
    // A GET may carry a body, and then the signature covers it.
    fastify.addHttpMethod('GET', { hasBody: true, overrideExisting: true });
    fastify.removeAllContentTypeParsers();
    fastify.addContentTypeParser('*', (request, payload, done) => this.edge.parse(request, payload, done));
    fastify.addHook('onRoute', (route) => {
      this.routes.add(route.method, route.url);
      route.onRequest = [this.edge.onRouteRequest(route.url)];
      route.preValidation = [this.edge.preValidation];
    });
    fastify.addHook('onRequest', this.edge.onRequest);
    fastify.addHook('onRequest', this.arriveUnknown);
    fastify.addHook('onSend', this.edge.onSend);
    fastify.addHook('onResponse', this.edge.onResponse);
    fastify.get('/favicon.ico', sendFavicon);
    fastify.setErrorHandler((error, request, reply) => sendError(request, reply, error));
    fastify.setNotFoundHandler({ preValidation: this.edge.preValidation }, this.sendNotFound);
  }

  /** onRequest: an unknown path has no body to read. */
  private readonly arriveUnknown = (
    request: FastifyRequest,
    reply: FastifyReply,
    done: (e?: Error) => void,
  ) => {
    if (!request.is404) done();
    else if (!this.edge.onUnknownPath(request, reply, done)) this.sendNotFound(request, reply);
  };

  private readonly sendNotFound = (request: FastifyRequest, reply: FastifyReply): void => {
    const unknown = { status: 404, detail: `No such resource: ${request.method} ${rawPath(request)}` };
    sendProblem(reply, this.routes.wrongMethod(request) ?? unknown);
  };
}

/** A list that has no reader is not read: of a HEAD, and of a client that has left. */
function sendStream(reply: FastifyReply, { contentType, body }: StreamReply): FastifyReply {
  const { method, edge } = reply.request;
  reply.header('content-type', contentType);
  if (method !== 'HEAD' && !edge.isReleased) return reply.send(body);
  body.destroy();
  return reply.send();
}
