import { context, propagation, SpanKind, SpanStatusCode, trace, type Span } from '@opentelemetry/api';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '../telemetry/logger.js';
import { httpDuration, httpRequests, idempotentRequests } from '../telemetry/metrics.js';

/** What unknown paths are counted under, so that nobody can make up series by asking for paths. */
const UNKNOWN_ROUTE = 'unknown';

/** One wide line and the metrics of a request with its response. */
export function recordRequest(log: Log, request: FastifyRequest, reply: FastifyReply): void {
  const { edge, method } = request;
  const status = reply.statusCode;
  const duration = performance.now() - edge.startedAt;
  const route = edge.route ?? UNKNOWN_ROUTE;
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
  if (edge.failure !== undefined) {
    log.error({ msg: 'request failed', request_id: request.id, route, err: edge.failure });
  }
}

/** Runs the rest of the request inside a span that continues the client's traceparent. Only called while tracing. */
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
