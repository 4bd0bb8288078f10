import { randomBytes, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { DomainError } from '../../../kernel/domain-error.js';
import type { Config } from '../../config/config.js';
import type { HealthRegistry } from '../../telemetry/health.js';
import type { Log } from '../../telemetry/logger.js';
import { addressLimit, AddressRateLimiter } from '../address.js';
import { setBaseHeaders } from '../base-headers.js';
import {
  connectionBounds,
  guardConnections,
  HEADERS_TIMEOUT_MS,
  KEEP_ALIVE_MS,
  refuseClientError,
  TIMEOUT_CHECK_MS,
} from '../connections.js';
import { toProblem } from '../error-mapping.js';
import { HTTPS_REQUIRED, noticeProxies } from '../https.js';
import { parseJsonBody } from '../json-body.js';
import { HOST_REQUIRED, QUERY_NOT_UTF8, sendProblem, type Problem } from '../problem.js';
import { tooManyRequests } from '../rate-limit.js';
import { drainRefusedBody, tooLarge } from '../request-body.js';
import { recordRequest } from '../request-record.js';
import { isHealthPath, isQueryUtf8, newRequestState } from '../request-state.js';
import { contentSecurityPolicy, refusalPage, type Advice, type Framers, type Sources } from './page.js';

/** Bodies of this many bytes and more are refused with 413. */
const BODY_LIMIT = 16_384;
const TIMEOUT_MS = 15_000;
/** How long a connection that has sent nothing stays at the end: its first request may be on the way. */
const LINGER_MS = 500;

export type PageServerConfig = Pick<
  Config,
  | 'rateLimitPerMinute'
  | 'rateLimitPerIpPerMinute'
  | 'requireHttps'
  | 'trustProxy'
  | 'maxConnections'
  | 'maxConnectionsPerIp'
  | 'host'
  | 'shutdownGraceMs'
>;

/**
 * A listener for the browsers of people, with what the API's edge does around every request: an id, HTTPS, a limit per
 * address, bounded connections and bodies, a line in the log, health. `advise` says in plain words what a refusal means.
 */
export class PageServer {
  readonly routes: FastifyInstance;
  private readonly refusals: Refusals;
  /** Connections that have sent no request yet. */
  private readonly silent = new Set<Socket>();

  constructor(
    private readonly config: PageServerConfig,
    private readonly log: Log,
    private readonly health: HealthRegistry,
    advise: (problem: Problem, request: FastifyRequest) => Advice,
    /** How long a browser may take to send a request. */
    timeoutMs = TIMEOUT_MS,
  ) {
    const refusals = new Refusals(advise);
    this.refusals = refusals;
    this.routes = fastify({
      bodyLimit: BODY_LIMIT - 1,
      requestTimeout: timeoutMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
      http: {
        headersTimeout: HEADERS_TIMEOUT_MS,
        connectionsCheckingInterval: TIMEOUT_CHECK_MS,
        // Node's own response to a request without Host is no problem document; the edge gives one.
        requireHostHeader: false,
      },
      trustProxy: config.trustProxy ?? false,
      requestIdHeader: false,
      genReqId: () => randomUUID(),
      frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => {
        receive(request, reply, config);
        refusals.refuse(request, reply, error);
      },
      clientErrorHandler: (error: NodeJS.ErrnoException, socket: Socket) => refuseClientError(error, socket),
    });
    this.guard();
  }

  /** Once the routes are there. */
  async listen(port: number): Promise<void> {
    const { routes, refusals, config, log } = this;
    guardConnections(routes.server, connectionBounds(config));
    noticeProxies(routes.server, config, log);
    routes.server.on('connection', (socket: Socket) => {
      this.silent.add(socket);
      socket.once('close', () => this.silent.delete(socket));
    });
    routes.server.on('request', ({ socket }: IncomingMessage) => this.silent.delete(socket));
    routes.get('/health/live', () => ({ status: 'ok' }));
    routes.get('/health/ready', async (_, reply) => {
      const report = await this.health.report();
      return reply.code(report.status === 'ok' ? 200 : 503).send(report);
    });
    routes.setErrorHandler((error, request, reply) => refusals.refuse(request, reply, error));
    routes.setNotFoundHandler((request, reply) =>
      refusals.refuse(request, reply, DomainError.notFound('Page')),
    );
    await routes.listen({ port, host: config.host });
  }

  /** The port it listens on; null before. */
  get port(): number | null {
    return (this.routes.server.address() as AddressInfo | null)?.port ?? null;
  }

  /**
   * Lets responses under way end, for as long as the service waits for them. Browsers open connections on the off chance;
   * Node leaves those open that have sent nothing yet, and the listener would never end.
   */
  async close(): Promise<void> {
    const { server } = this.routes;
    const silent = setTimeout(() => this.silent.forEach((socket) => socket.destroy()), LINGER_MS);
    const late = setTimeout(() => server.closeAllConnections(), this.config.shutdownGraceMs);
    try {
      await this.routes.close();
    } finally {
      clearTimeout(silent);
      clearTimeout(late);
    }
  }

  /** A page for people who navigate, problem details for everybody else; framed by nobody. */
  sendRefusal(request: FastifyRequest, reply: FastifyReply, problem: Problem): FastifyReply {
    return this.refusals.send(request, reply, problem);
  }

  private guard(): void {
    const { routes, config, log } = this;
    const addresses = new AddressRateLimiter(addressLimit(config));
    routes.decorateRequest('edge');
    routes.addContentTypeParser(
      'application/json',
      { parseAs: 'buffer' },
      async (request: FastifyRequest, body: Buffer) => {
        request.edge.rawBody = body;
        return parseJsonBody(request.edge.rawBody);
      },
    );
    routes.addHook('onRequest', (request, reply, done) => {
      receive(request, reply, config);
      if (request.raw.headers.host === undefined && request.raw.httpVersion === '1.1') {
        this.sendRefusal(request, reply, HOST_REQUIRED);
        return;
      }
      if (config.requireHttps && request.protocol !== 'https' && !isHealthPath(request)) {
        this.sendRefusal(request, reply, HTTPS_REQUIRED);
        return;
      }
      const blockedUntil = addresses.take(request.ip);
      if (blockedUntil !== null) this.sendRefusal(request, reply, tooManyRequests(blockedUntil, Date.now()));
      else if (!isQueryUtf8(request)) this.sendRefusal(request, reply, QUERY_NOT_UTF8);
      else done();
    });
    routes.addHook('onResponse', (request, reply, done) => {
      recordRequest(log, request, reply);
      done();
    });
  }
}

/** Sends a document under its policy. `html` gets the nonce of its inline script and style. */
export function sendPage(
  reply: FastifyReply,
  framedBy: Framers,
  html: (nonce: string) => string,
  sources?: Sources,
): FastifyReply {
  const nonce = randomBytes(16).toString('base64');
  const inline = { script: `'nonce-${nonce}'`, style: `'nonce-${nonce}'`, image: 'data:' };
  return reply
    .headers({
      'content-security-policy': contentSecurityPolicy(sources ?? inline, framedBy),
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    })
    .type('text/html; charset=utf-8')
    .send(html(nonce));
}

/** Gives a request its state, and the response its headers, before anything else. */
function receive(request: FastifyRequest, reply: FastifyReply, config: PageServerConfig): void {
  request.edge = newRequestState();
  request.edge.route = request.routeOptions?.url ?? null;
  setBaseHeaders(request, reply, config);
}

class Refusals {
  constructor(private readonly advise: (problem: Problem, request: FastifyRequest) => Advice) {}

  /** Responds with what was thrown; what went wrong inside is told to the log alone. */
  refuse(request: FastifyRequest, reply: FastifyReply, error: unknown): void {
    const problem = toProblem(error);
    if (problem.status >= 500) request.edge.failure = error;
    if (problem.status !== 413) {
      this.send(request, reply, problem);
      return;
    }
    drainRefusedBody(request, reply);
    const limit = (request.routeOptions.bodyLimit ?? BODY_LIMIT - 1) + 1;
    this.send(request, reply, { ...problem, detail: tooLarge(limit) });
  }

  send(request: FastifyRequest, reply: FastifyReply, problem: Problem): FastifyReply {
    if (request.method !== 'GET' || !(request.headers.accept ?? '').includes('text/html')) {
      reply.header('content-security-policy', "default-src 'none'; frame-ancestors 'none'");
      reply.header('x-content-type-options', 'nosniff');
      sendProblem(reply, problem);
      return reply;
    }
    reply.status(problem.status).headers(problem.headers ?? {});
    return sendPage(reply, [], (nonce) => refusalPage(this.advise(problem, request), problem.detail, nonce));
  }
}
