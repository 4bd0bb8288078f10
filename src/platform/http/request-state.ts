import type { Span } from '@opentelemetry/api';
import type { FastifyRequest } from 'fastify';
import type { Authentication } from './authentication.js';
import type { MerchantCredentials } from './merchant-directory.js';
import type { RequestTicket } from '../idempotency/ticket.js';

/** How a request with an Idempotency-Key came to its response; told in the request's log line. */
export type IdempotencyOutcome = 'fresh' | 'replayed' | 'in_flight' | 'mismatch';

/** What the edge knows of one request under way. */
export interface RequestState {
  readonly startedAt: number;
  /** The body exactly as it came; empty when there was none. */
  rawBody: Buffer;
  /** The route as registered, for example `/merchants/v1/payouts/:id`; null for an unknown path. */
  route: string | null;
  /** What stands for the client's address. */
  client: string;
  /** How the API that the request is for tells who sends it; null where everybody may ask. */
  authentication: Authentication | null;
  /** The merchant that the request names; not known to have sent it. */
  named: MerchantCredentials | null;
  merchant: MerchantCredentials | null;
  /** Who sent the request of a page, as the guard of its route found out. */
  visitor: unknown;
  /** Bytes that are counted as held for this request. */
  bodyBytes: number;
  responseBytes: number;
  /** Nothing is held for it any more: its response was taken, or its client is gone. */
  over: boolean;
  ticket: RequestTicket | null;
  idempotency: IdempotencyOutcome | null;
  /** How many things the request brought, such as events of a batch; told in the log line. */
  items: number | null;
  /** Set once the response is final, so that sending it twice settles it once. */
  settled: boolean;
  /** What went wrong inside, for the log alone. */
  failure: unknown;
  /** The span of the request while tracing. */
  span: Span | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    edge: RequestState;
  }
}

export const NO_BODY = Buffer.alloc(0);

export function newRequestState(): RequestState {
  return {
    startedAt: performance.now(),
    rawBody: NO_BODY,
    route: null,
    client: '',
    authentication: null,
    named: null,
    merchant: null,
    visitor: null,
    bodyBytes: 0,
    responseBytes: 0,
    over: false,
    ticket: null,
    idempotency: null,
    items: null,
    settled: false,
    failure: undefined,
    span: undefined,
  };
}

/** The path exactly as it was sent: percent-encoding kept; scheme, host and query string left out. */
export function rawPath(request: FastifyRequest): string {
  const target = request.raw.url ?? '/';
  const query = target.indexOf('?');
  const path = query === -1 ? target : target.slice(0, query);
  if (path.charCodeAt(0) === 0x2f) return path;
  const absolute = /^[a-z][a-z0-9+.-]*:\/\/[^/]*(\/.*)?$/i.exec(path);
  return absolute === null ? path : (absolute[1] ?? '/');
}

/** As {@link rawPath}, with the query string. */
export function rawTarget(request: FastifyRequest): string {
  const target = request.raw.url ?? '/';
  const query = target.indexOf('?');
  return query === -1 ? rawPath(request) : rawPath(request) + target.slice(query);
}

/**
 * Whether the query string decodes to UTF-8; Node refuses bytes that are not ASCII. Parsers of queries put replacement characters in place of other
 * bytes: a memo or a name would be stored that was never sent.
 */
export function isQueryUtf8(request: FastifyRequest): boolean {
  const target = request.raw.url ?? '';
  const query = target.indexOf('?');
  if (query === -1) return true;
  try {
    return decodeURIComponent(target.slice(query)) !== '';
  } catch {
    return false;
  }
}

/** Asked by load balancers and operators, in the clear. */
export function isHealthPath(request: FastifyRequest): boolean {
  return rawPath(request).startsWith('/health/');
}
