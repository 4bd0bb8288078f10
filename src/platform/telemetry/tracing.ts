import { context, propagation, SpanStatusCode, trace, type Attributes, type Span } from '@opentelemetry/api';
import type { TelemetryConfig } from '../config/config.js';

/** True while a tracer provider is registered. Otherwise a span costs one comparison. */
let enabled = false;

export function isTracing(): boolean {
  return enabled;
}

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

export function traceparent(): string | undefined {
  if (!enabled) return undefined;
  const carrier: Record<string, string> = {};
  propagation.inject(context.active(), carrier);
  return carrier['traceparent'];
}

/** Exports spans to the configured collector, if any. Resolves to a function that flushes them and stops. */
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
  enabled = true;
  return async () => {
    enabled = false;
    await provider.shutdown();
    // A second start in this process could not replace the registrations.
    for (const registered of [trace, context, propagation]) registered.disable();
  };
}
