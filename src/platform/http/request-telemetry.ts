import { context, propagation, SpanKind, SpanStatusCode, trace, type Span } from '@opentelemetry/api';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '../telemetry/logger.js';
import { httpDuration, httpRequests, idempotentRequests } from '../telemetry/metrics.js';
import { isUnavailable } from './problem.js';

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

export function recordRequest(log: Log, request: FastifyRequest, reply: FastifyReply): void {
  const { edge, method } = request;
  const status = reply.statusCode;
  const duration = performance.now() - edge.startedAt;
  if (edge.span !== undefined) endSpan(edge.span, request, status);
  // Unknown paths share one series, so that clients cannot create series.
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

function endSpan(span: Span, { method, edge }: FastifyRequest, status: number): void {
  const { route, merchant, idempotency } = edge;
  span.updateName(`${method} ${route ?? 'unknown'}`);
  span.setAttribute('http.response.status_code', status);
  if (route !== null) span.setAttribute('http.route', route);
  if (merchant !== null) span.setAttribute('disburse.merchant_id', merchant.merchantId);
  if (idempotency !== null) span.setAttribute('disburse.idempotency', idempotency);
  if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}
