import { context, propagation, SpanStatusCode, trace, type Attributes, type Span } from '@opentelemetry/api';
import type { TelemetryConfig } from '../config/config.js';

let enabled = false;

/** Turned on once a tracer provider is registered; until then spans cost one comparison. */
function enableTracing(on: boolean): void {
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

/**
 * Starts sending spans to the collector when one is configured; the SDK is not even loaded otherwise. Resolves to the
 * function that sends what is left and stops.
 */
export async function startTracing(config: TelemetryConfig): Promise<() => Promise<void>> {
  if (config.otelExporterOtlpEndpoint === null) return async () => undefined;
  const [{ NodeTracerProvider, BatchSpanProcessor }, { OTLPTraceExporter }, { resourceFromAttributes }] =
    await Promise.all([
      import('@opentelemetry/sdk-trace-node'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
    ]);
  const url = `${config.otelExporterOtlpEndpoint.replace(/\/$/, '')}/v1/traces`;
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'disburse' }),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter({ url }))],
  });
  // Registers the context manager and the W3C propagators too.
  provider.register();
  enableTracing(true);
  return async () => {
    enableTracing(false);
    await provider.shutdown();
    // This removes the registrations of register(), which a second start in this process could not replace.
    for (const registered of [trace, context, propagation]) registered.disable();
  };
}
