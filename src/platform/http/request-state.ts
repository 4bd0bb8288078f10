import { context, propagation, SpanKind, SpanStatusCode, trace, type Span } from '@opentelemetry/api';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { newId } from '../../kernel/ids.js';
import type { EventMetadata } from '../event-store/port.js';
import { IdempotencyTicket } from '../idempotency/ticket.js';
import { traceparent } from '../telemetry/tracing.js';
import type { Log } from '../telemetry/logger.js';
import { SECRET_PREFIX } from '../../kernel/text.js';
import { REDACTED, redactText } from '../telemetry/redaction.js';
import { httpDuration, httpRequests, idempotentRequests } from '../telemetry/metrics.js';
import type { ApiCaller } from './merchant-directory.js';
import type { Page } from './listeners.js';
import { isUnavailable } from './problem.js';

export function getRequest(context: ExecutionContext): FastifyRequest {
  return context.switchToHttp().getRequest<FastifyRequest>();
}

/** Creates a decorator for parameters of handlers, with a value of the request. */
export const fromRequest = <Value>(read: (request: FastifyRequest) => Value) =>
  createParamDecorator((_: unknown, context: ExecutionContext) => read(getRequest(context)));

/** Returns the id of the key for an API with several keys per merchant, else that of the merchant. */
export function toCaller({ callerId, merchantId }: ApiCaller): string {
  return callerId ?? merchantId;
}

export const NO_BODY = Buffer.alloc(0);

/** The maximum length of an unknown parameter in characters. */
export const MAX_UNKNOWN = 2048;

export class RequestState {
  readonly startedAt = performance.now();
  /** The body as it was sent; empty without one. */
  rawBody: Buffer = NO_BODY;
  /** The registered path, for example `/merchants/v1/payouts/:id`; null for an unknown one. */
  route: string | null = null;
  /** The client address, normalised by {@link toClient}. */
  client = '';
  /** True where the fingerprint of an Idempotency-Key covers the query string. */
  inputsInQuery = false;
  /** The merchant that the request names, before it is authenticated. */
  identifiedMerchant: ApiCaller | null = null;
  merchant: ApiCaller | null = null;
  /** Id of the secret that signed the request; null without a valid signature. */
  credentialId: string | null = null;
  /** The `detail` of the problem in the response. */
  refusal: string | null = null;
  /** The text that a wrong signature should have covered, with the digest of the body (admin-api.md 3). */
  stringToSign: string | null = null;
  /** The page whose listener received the request; null for the listener of the API. */
  page: Page | null = null;
  /** The visitor of a page, set by its guard. */
  visitor: unknown = null;
  portalSessionId: string | null = null;
  /** Bytes that {@link MemoryBudget} counts for the body. */
  bodyBytes = 0;
  responseBytes = 0;
  /** True once the response was sent or the client is gone. */
  isReleased = false;
  /** The namespace of the caller's Idempotency-Keys; null until a guard has identified the caller. */
  idempotencyScope: string | null = null;
  ticket: IdempotencyTicket | null = null;
  /** The outcome of a request with an Idempotency-Key, for its log line. */
  idempotency: 'fresh' | 'replayed' | 'in_flight' | 'mismatch' | null = null;
  /** The number of items in a batch, for the log line. */
  items: number | null = null;
  /** The internal cause of a failure, which only the log contains. */
  failure: unknown;
  span: Span | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    edge: RequestState;
  }
}

/** Throws for a route without a guard of an API. */
export function getMerchant({ edge }: FastifyRequest): ApiCaller {
  if (edge.merchant === null) throw new Error('the route is under no API');
  return edge.merchant;
}

/** Returns the ticket of the request. Without an Idempotency-Key its ids are random. */
export function getTicket({ edge }: FastifyRequest): IdempotencyTicket {
  return (edge.ticket ??= new IdempotencyTicket(newId()));
}

/** Returns the metadata of the events that the request causes. */
export function toCause(request: FastifyRequest): EventMetadata {
  const parent = traceparent();
  const { merchantId, callerId } = getMerchant(request);
  return {
    actor: `${request.method} ${request.edge.route ?? ''}`.trimEnd(),
    request_id: request.id,
    merchant_id: merchantId,
    ...(callerId === undefined ? {} : { key_id: callerId }),
    ...(request.edge.portalSessionId === null ? {} : { portal_session_id: request.edge.portalSessionId }),
    ...(parent === undefined ? {} : { traceparent: parent }),
  };
}

/** Returns the query string as it was sent, with its question mark; empty without one. */
function rawQuery({ raw: { url = '' } }: Pick<FastifyRequest, 'raw'>): string {
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start);
}

/** Returns the path as it was sent, percent-encoded, without scheme, host and query string. */
export function rawPath(request: Pick<FastifyRequest, 'raw'>): string {
  const { url = '/' } = request.raw;
  const path = url.slice(0, url.length - rawQuery(request).length);
  if (path.charCodeAt(0) === 0x2f) return path;
  const absolute = /^[a-z][a-z0-9+.-]*:\/\/[^/]*(\/.*)?$/i.exec(path);
  return absolute === null ? path : (absolute[1] ?? '/');
}

export function rawTarget(request: Pick<FastifyRequest, 'raw'>): string {
  return rawPath(request) + rawQuery(request);
}

/**
 * Checks that the query string decodes to UTF-8. Parsers replace invalid bytes by a replacement character, and a memo or a
 * name would be stored that the client never sent.
 */
export function isQueryUtf8(request: FastifyRequest): boolean {
  try {
    decodeURIComponent(rawQuery(request));
    return true;
  } catch {
    return false;
  }
}

export function recordRequest(log: Log, request: FastifyRequest, reply: FastifyReply): void {
  const { edge, method } = request;
  const status = reply.statusCode;
  const duration = performance.now() - edge.startedAt;
  // Unknown paths share one series: clients cannot create series.
  const route = edge.route ?? 'unknown';
  httpRequests.inc({ route, method, status });
  httpDuration.observe({ route, method }, duration / 1000);
  if (edge.idempotency !== null) idempotentRequests.inc({ outcome: edge.idempotency });
  log.wideLog('request', {
    request_id: request.id,
    method,
    route,
    status,
    duration_ms: Math.round(duration * 100) / 100,
    merchant_id: edge.merchant?.merchantId,
    key_id: edge.merchant?.callerId,
    idempotency: edge.idempotency ?? undefined,
    items: edge.items ?? undefined,
    bytes_in: edge.rawBody.length,
    bytes_out: Number(reply.getHeader('content-length') ?? 0),
  });
  const { failure } = edge;
  if (failure === undefined) return;
  const fields = { request_id: request.id, route };
  if (isUnavailable(failure)) log.warn({ msg: 'request refused', ...fields, reason: failure.message });
  else log.error({ msg: 'request failed', ...fields, err: failure });
}

/** The maximum length of a logged path or string to sign. Longer text keeps its end, which may be a body digest. */
const MAX_TEXT = 1024;
const END_OF_TEXT = 128;
/** Matches every text with personal data or secrets, and few others. */
const MAY_BE_PERSONAL = new RegExp(`[%@+]|${SECRET_PREFIX}|\\d{7}`);
const ENCODED = /(?:%[0-9a-f]{2})+/gi;
/** A phone number without a plus in the place of an id. */
const DIGITS = /(?<=\/)\d{7,15}(?=\/|$)/gm;
const MAX_QUERY_NAMES = 50;
/** The form of a parameter's name. Other text before a `=` may be a value. */
const QUERY_NAME = /^[A-Za-z_][\w.-]{0,63}$/;
const UNNAMED = '?';

/** Returns the record for the RequestLog; null for a request that names no merchant. */
export function loggedRequest(request: FastifyRequest, reply: FastifyReply) {
  const { edge, method } = request;
  if (edge.identifiedMerchant === null) return null;
  const parts = queryParts(rawQuery(request));
  return {
    requestId: request.id as string,
    merchantId: edge.identifiedMerchant.merchantId,
    credentialId: edge.credentialId,
    startedAt: edge.startedAt,
    method,
    /** It is not stored. */
    client: edge.client,
    path: storableText(rawPath(request)),
    queryNames: parts
      .map(({ name }) => name ?? UNNAMED)
      .filter((name, place, all) => all.indexOf(name) === place),
    status: reply.statusCode,
    durationMs: performance.now() - edge.startedAt,
    refusal: refusalWithoutValues(edge.refusal, parts),
    stringToSign: edge.stringToSign === null ? null : storableText(edge.stringToSign),
  };
}

/** Returns the text as it was sent or, if personal data in it were masked, decoded. */
function storableText(text: string): string {
  if (text.length <= MAX_TEXT && !MAY_BE_PERSONAL.test(text)) return text;
  const decoded = text.replaceAll('%25', '%').replace(ENCODED, decodeText);
  const masked = redactText(decoded).replace(DIGITS, REDACTED);
  const kept = masked === decoded ? text : masked;
  return kept.length <= MAX_TEXT
    ? kept
    : `${kept.slice(0, MAX_TEXT - END_OF_TEXT - 1)}…${kept.slice(-END_OF_TEXT)}`;
}

/** Decodes percent-encoded bytes. NUL is replaced, as PostgreSQL cannot store it. */
function decodeText(encoded: string): string {
  try {
    return decodeURIComponent(encoded).replaceAll('\0', '\ufffd');
  } catch {
    return encoded;
  }
}

/** Returns the parameters, with a null name where the text may be a value without a name. */
function queryParts(query: string) {
  return query
    .slice(1)
    .split('&', MAX_QUERY_NAMES)
    .filter((part) => part !== '')
    .map((part) => {
      const sent = part.split('=', 1)[0]!;
      return { name: part.includes('=') && QUERY_NAME.test(sent) ? sent : null, sent };
    });
}

/** Masks the name of the parameter with which a refusal begins, where it may be a value. */
function refusalWithoutValues(refusal: string | null, parts: ReturnType<typeof queryParts>): string | null {
  for (const { name, sent } of parts) {
    if (refusal === null || name !== null) continue;
    const [[decoded] = ['']] = new URLSearchParams(sent);
    const start = decoded.slice(0, MAX_UNKNOWN);
    if (refusal.startsWith(`${start} `)) return `${UNNAMED}${refusal.slice(start.length)}`;
  }
  return refusal;
}

/** Runs the rest of the request in a span that continues the client's traceparent. */
export function startRequestSpan(request: FastifyRequest, next: () => void): void {
  const parent = propagation.extract(context.active(), request.headers);
  const attributes = { 'http.request.method': request.method, 'disburse.request_id': request.id };
  const span = trace
    .getTracer('disburse')
    .startSpan(request.method, { kind: SpanKind.SERVER, attributes }, parent);
  request.edge.span = span;
  context.with(trace.setSpan(parent, span), next);
}

export function endRequestSpan(span: Span, request: FastifyRequest, reply: FastifyReply): void {
  const { route, merchant, idempotency } = request.edge;
  span.updateName(`${request.method} ${route ?? 'unknown'}`);
  span.setAttribute('http.response.status_code', reply.statusCode);
  if (route !== null) span.setAttribute('http.route', route);
  if (merchant !== null) span.setAttribute('disburse.merchant_id', merchant.merchantId);
  if (idempotency !== null) span.setAttribute('disburse.idempotency', idempotency);
  if (reply.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}
