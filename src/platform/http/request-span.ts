import { context, propagation, SpanKind, SpanStatusCode, trace, type Span } from '@opentelemetry/api';
import type { FastifyReply, FastifyRequest } from 'fastify';

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
