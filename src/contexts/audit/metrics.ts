import { Gauge } from 'prom-client';
import { registers } from '../../platform/telemetry/metrics.js';

export const lastVerification = new Gauge({
  name: 'disburse_audit_verify_timestamp_seconds',
  help: 'When the log was last verified (npm run audit -- verify), in seconds since 1970, by outcome: in_order, wrong, incomplete. An incomplete run replaces no other. Missing before the first time.',
  labelNames: ['outcome'] as const,
  registers,
});
