import { context, propagation, SpanStatusCode, trace, type Attributes, type Span } from '@opentelemetry/api';

let enabled = false;

/** Turned on once a tracer provider is registered; until then spans cost one comparison. */
export function enableTracing(on: boolean): void {
  enabled = on;
}

export function isTracing(): boolean {
  return enabled;
}

/** Runs the work inside a span. Without an exporter it is a plain call. */
export function traced<T>(
  name: string,
  attributes: Attributes,
  work: (span?: Span) => Promise<T>,
): Promise<T> {
  if (!enabled) return work();
  return trace.getTracer('disburse').startActiveSpan(name, { attributes }, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.name : 'error' });
      throw error;
    } finally {
      span.end();
    }
  });
}

/** The W3C traceparent of the current span; undefined without one. */
export function traceparent(): string | undefined {
  if (!enabled) return undefined;
  const carrier: Record<string, string> = {};
  propagation.inject(context.active(), carrier);
  return carrier['traceparent'];
}
