import { Counter, Histogram } from 'prom-client';
import { registers, SECONDS } from '../../platform/telemetry/metrics.js';

export const providerDuration = new Histogram({
  name: 'disburse_exchange_provider_duration_seconds',
  help: 'Time of one call of an exchange provider, by provider and operation: quote, create, status, settle, cancel, ping.',
  labelNames: ['provider', 'operation'] as const,
  buckets: SECONDS,
  registers,
});

export const providerErrors = new Counter({
  name: 'disburse_exchange_provider_errors_total',
  help: 'Calls of an exchange provider that gave nothing, by provider, operation and kind: away, contradiction (it answered what it must not), refused (it will never accept it), invalid (an amount outside its limits), unexpected.',
  labelNames: ['provider', 'operation', 'kind'] as const,
  registers,
});
