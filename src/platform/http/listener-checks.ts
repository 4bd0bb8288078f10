import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { LoggerService } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HttpConfig } from '../config/config.js';
import { isShell } from './admin/shell-socket.js';
import { addressLimit, AddressRateLimiter, clientOf } from './address.js';
import {
  HEADERS_TIMEOUT_MS,
  IDLE_TIMEOUT_MS,
  KEEP_ALIVE_MS,
  refuseClientError,
  TIMEOUT_CHECK_MS,
} from './connections.js';
import { HOST_REQUIRED, QUERY_NOT_UTF8, type HttpProblem } from './problem.js';
import { tooManyRequests } from './rate-limit.js';
import { isHealthPath, isQueryUtf8, RequestState } from './request-state.js';

/** A year. Subdomains are left out: they are not ours to decide about. */
const HSTS = 'max-age=31536000';

/** What every listener checks of a request before anything else: the API and each page have one of these. */
export class ListenerChecks {
  private readonly addresses: AddressRateLimiter;

  constructor(private readonly config: HttpConfig) {
    this.addresses = new AddressRateLimiter(addressLimit(config));
  }

  /** Gives the request its state and the response its headers. Why the request is refused; null when it is not. */
  receive(request: FastifyRequest, reply: FastifyReply): HttpProblem | null {
    begin(request, reply, this.config);
    if (request.raw.headers.host === undefined && request.raw.httpVersion === '1.1') return HOST_REQUIRED;
    if (this.config.requireHttps && request.protocol !== 'https' && !isOpen(request)) return HTTPS_REQUIRED;
    const blockedUntil = this.addresses.take(request.edge.client);
    if (blockedUntil !== null) return tooManyRequests(blockedUntil, Date.now());
    return isQueryUtf8(request) ? null : QUERY_NOT_UTF8;
  }
}

function isOpen(request: FastifyRequest): boolean {
  return isHealthPath(request) || isShell(request);
}

/** `Strict-Transport-Security` where HTTPS is required, and over HTTPS alone (RFC 6797). */
function begin(request: FastifyRequest, reply: FastifyReply, { requireHttps }: HttpConfig): void {
  request.edge = new RequestState();
  request.edge.client = isShell(request) ? 'shell' : clientOf(request.ip);
  reply.header('request-id', request.id);
  reply.header('cache-control', 'no-store');
  if (requireHttps && request.protocol === 'https') reply.header('strict-transport-security', HSTS);
}

/** Fastify's options on every listener. `refuse` responds to what no route received, such as a malformed path. */
export function listenerOptions(
  config: HttpConfig,
  refuse: (request: FastifyRequest, reply: FastifyReply, error: unknown) => void,
) {
  return {
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionTimeout: IDLE_TIMEOUT_MS,
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
      begin(request, reply, config);
      refuse(request, reply, error);
    },
    clientErrorHandler: (error: NodeJS.ErrnoException, socket: Socket) => refuseClientError(error, socket),
  } as const;
}

export const HTTPS_REQUIRED: HttpProblem = { status: 403, detail: 'HTTPS is required' };

const FORWARDED = ['x-forwarded-for', 'x-forwarded-proto', 'forwarded'];

/** True for a request with a header that proxies add. */
export function isForwarded({ headers }: IncomingMessage): boolean {
  return [...FORWARDED, 'x-real-ip', 'via'].some((name) => headers[name] !== undefined);
}

/** Logs once that requests carry headers of a proxy while none is trusted. */
export function noticeProxies(server: Server, config: HttpConfig, log: Pick<LoggerService, 'warn'>): void {
  if (config.trustProxy !== null) return;
  const check = ({ headers }: IncomingMessage): void => {
    const header = FORWARDED.find((name) => headers[name] !== undefined);
    if (header === undefined) return;
    server.off('request', check);
    log.warn(
      `A request came with ${header}, and TRUST_PROXY is not set: the header is ignored. Behind a proxy all clients share its address and its limits, and none counts as HTTPS: set TRUST_PROXY to its addresses.`,
    );
  };
  server.on('request', check);
}

/** What an operator should know of HTTPS and proxies before the first request: sentences for the log. */
export function httpsNotices(config: HttpConfig): readonly string[] {
  if (!config.roles.some((role) => role !== 'worker')) return [];
  const proxied = [config.publicUrl, config.widgetUrl].some((each) => each?.startsWith('https://'));
  const untrusted = config.trustProxy === null;
  const notices: readonly (readonly [applies: boolean, notice: string])[] = [
    [
      config.requireHttps,
      'HTTPS is demanded: requests that came without it get 403, health checks excepted. REQUIRE_HTTPS=false switches this off.',
    ],
    [
      config.mode === 'production' && !config.requireHttps,
      'REQUIRE_HTTPS is false: responses go in the clear.',
    ],
    [
      untrusted && config.requireHttps,
      'TRUST_PROXY is not set, and this process ends no TLS itself: every request will get 403. Set TRUST_PROXY to the addresses of the proxy that ends it.',
    ],
    [
      untrusted && !config.requireHttps && proxied,
      'TRUST_PROXY is not set, but the public URL begins with https:// and this process ends no TLS itself: all clients will share the address and the limits of the proxy. Set TRUST_PROXY to its addresses.',
    ],
  ];
  return notices.filter(([applies]) => applies).map(([, notice]) => notice);
}
