import { Counter, Gauge } from 'prom-client';
import { registers } from '../../platform/telemetry/metrics.js';

export const credentialExpiry = new Gauge({
  name: 'disburse_credential_expiry_timestamp_seconds',
  help: 'When the next credential that has no replacement expires, in seconds since 1970, by kind: payouts, exchange, admin. In the past for a day after it has expired; missing where none expires.',
  labelNames: ['kind'] as const,
  registers,
});

export const requestsLeftOut = new Counter({
  name: 'disburse_request_log_left_out_total',
  help: 'Requests of merchants that the request log left out: too many of a merchant that no secret signed (unsigned), the buffer was full while the database was unavailable (full), or the database refused their batch (refused).',
  labelNames: ['reason'] as const,
  registers,
});
