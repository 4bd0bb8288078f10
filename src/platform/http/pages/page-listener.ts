import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { DomainError } from '../../../kernel/domain-error.js';
import type { HttpConfig } from '../../config/config.js';
import type { HealthRegistry } from '../../telemetry/health.js';
import type { Log } from '../../telemetry/logger.js';
import { isShell, ShellSocket } from '../admin/shell-socket.js';
import { isForwarded, ListenerChecks, listenerOptions, noticeProxies } from '../listener-checks.js';
import {
  backlogOf,
  drainHttp,
  guardConnections,
  type ConnectionGuard,
  type Drainable,
} from '../connections.js';
import { serveHealth } from '../metrics-server.js';
import { toProblem } from '../problem-filter.js';
import { sendProblem, type HttpProblem } from '../problem.js';
import { settleBody } from '../request-body.js';
import { recordRequest } from '../request-state.js';
import { RouteTable } from '../route-table.js';
import { readAssets, sendFavicon, sendPageAsset } from './assets.js';
import { acceptsHtml, sendRefusal } from './document.js';
import { localeOf } from './locale.js';
import type { Page, PageRoute } from './page.js';

/** The route of an application, whose script finds the page by the path. */
function isEveryPath(url: string): boolean {
  return url.endsWith('*');
}

/** The socket of the shell leads to the admin API alone, and a proxy in front of it would make everybody the shell. */
function refuseShell(request: FastifyRequest): HttpProblem | null {
  if (!isShell(request)) return null;
  if (isForwarded(request.raw)) return { status: 403, detail: 'The socket is for no proxy' };
  const isElsewhere = request.routeOptions.url?.startsWith('/admin/v1/') !== true;
  return isElsewhere ? { status: 404, detail: 'The socket serves /admin/v1 alone' } : null;
}

/** Serves one page: its routes, its built files, health, and refusals that people can read. */
export class PageListener implements Drainable {
  readonly connections: ConnectionGuard;
  /** The other way to the routes of the admin API; null for other pages. */
  private readonly shell: ShellSocket | null;
  private readonly routes: FastifyInstance;
  private readonly table = new RouteTable();
  private draining = false;

  constructor(
    private readonly page: Page,
    private readonly config: HttpConfig,
    private readonly log: Log,
    health: HealthRegistry,
  ) {
    const refuse = (request: FastifyRequest, reply: FastifyReply, error: unknown): void =>
      this.refuse(request, reply, error);
    const { http, ...options } = listenerOptions(config, refuse);
    const { requestTimeoutMs: requestTimeout } = page;
    // Node applies a requestTimeout only after these two.
    const headersTimeout = Math.min(http.headersTimeout, requestTimeout);
    const connectionsCheckingInterval = Math.min(http.connectionsCheckingInterval, requestTimeout);
    const routes = fastify({
      ...options,
      requestTimeout,
      http: { ...http, headersTimeout, connectionsCheckingInterval },
    });
    this.routes = routes;
    this.connections = guardConnections(routes.server, config.maxConnections);
    this.shell =
      page.role === 'admin'
        ? new ShellSocket(config, (request, response) => routes.routing(request, response), log)
        : null;
    noticeProxies(routes.server, config, log);
    this.observe(new ListenerChecks(config));
    routes.decorateRequest('edge');
    routes.removeAllContentTypeParsers();
    // Bodies are read by PageBody, once the guards of a route have let a request in.
    routes.addContentTypeParser('*', (_request, _payload, done) => done(null));
    routes.setErrorHandler((error, request, reply) => refuse(request, reply, error));
    routes.setNotFoundHandler((request, reply) => refuse(request, reply, DomainError.notFound('Page')));
    serveHealth(routes, health);
    const assets = readAssets(page.name);
    routes.get(`${page.path}/assets/:file`, (request, reply) => sendPageAsset(request, reply, assets));
    routes.get('/favicon.ico', sendFavicon);
  }

  add({ method, url, handler }: PageRoute): void {
    this.routes.route({ method, url, handler });
  }

  async listen(): Promise<void> {
    const { page, config } = this;
    await this.routes.listen({ port: page.port(config), host: config.host, backlog: backlogOf(config) });
    await this.shell?.listen();
  }

  /** The port it listens on; null when it does not. */
  get port(): number | null {
    return (this.getHttpServer().address() as AddressInfo | null)?.port ?? null;
  }

  getHttpServer(): Server {
    return this.routes.server;
  }

  drain(): void {
    this.draining = true;
  }

  async close(): Promise<void> {
    const listeners = this.shell === null ? [this] : [this, this.shell];
    await Promise.all(listeners.map((each) => drainHttp(each, this.config.shutdownGraceMs)));
    await this.routes.close().catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ERR_SERVER_NOT_RUNNING') throw error;
    });
  }

  private observe(checks: ListenerChecks): void {
    this.routes.addHook('onRoute', ({ method, url }) => {
      if (!isEveryPath(url)) this.table.add(method, url);
    });
    this.routes.addHook('onRequest', (request, reply, done) => {
      const refusal = checks.receive(request, reply) ?? refuseShell(request) ?? this.wrongMethod(request);
      reply.header('x-content-type-options', 'nosniff');
      request.edge.route = request.routeOptions.url ?? null;
      request.edge.page = this.page;
      if (refusal === null) done();
      else this.send(request, reply, refusal);
    });
    this.routes.addHook('onSend', (request, reply, payload, done) => {
      settleBody(request, reply);
      if (this.draining) reply.header('connection', 'close');
      done(null, payload);
    });
    this.routes.addHook('onResponse', (request, reply, done) => {
      recordRequest(this.log, request, reply);
      done();
    });
  }

  /** Of a path that a program calls; at the same path people may find a page. Strangers who open a link learn of no routes: 404. */
  private wrongMethod(request: FastifyRequest): HttpProblem | null {
    if (this.page.role === 'widget') return null;
    const { url } = request.routeOptions;
    const isRoute = url !== undefined && !isEveryPath(url);
    return isRoute || acceptsHtml(request) ? null : this.table.wrongMethod(request);
  }

  /** What went wrong inside is for the log alone. */
  private refuse(request: FastifyRequest, reply: FastifyReply, error: unknown): void {
    const problem = toProblem(error);
    if (problem.status >= 500) request.edge.failure ??= error;
    this.send(request, reply, problem);
  }

  /** A document for people who navigate, problem details for everybody else; no page may frame either. */
  private send(request: FastifyRequest, reply: FastifyReply, problem: HttpProblem): void {
    // No hook ran for a malformed path.
    reply.header('x-content-type-options', 'nosniff');
    if (!acceptsHtml(request)) {
      reply.header('content-security-policy', "default-src 'none'; frame-ancestors 'none'");
      sendProblem(reply, problem);
      return;
    }
    const locale = localeOf(request);
    sendRefusal(reply, this.page, problem, locale);
  }
}
