import { context, propagation, trace } from '@opentelemetry/api';
import type { Config } from '../config/config.js';
import { enableTracing } from './tracing.js';

/**
 * Starts sending spans to the collector when one is configured; the SDK is not even loaded otherwise. Resolves to the
 * function that sends what is left and stops.
 */
export async function startTracing(config: Pick<Config, 'otlpEndpoint'>): Promise<() => Promise<void>> {
  if (config.otlpEndpoint === null) return async () => undefined;
  const [{ NodeTracerProvider, BatchSpanProcessor }, { OTLPTraceExporter }, { resourceFromAttributes }] =
    await Promise.all([
      import('@opentelemetry/sdk-trace-node'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
    ]);
  const url = `${config.otlpEndpoint.replace(/\/$/, '')}/v1/traces`;
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
    // What register() set: a second start in this process could not replace it.
    for (const registered of [trace, context, propagation]) registered.disable();
  };
}
