import { Counter } from 'prom-client';
import { registers } from '../../platform/telemetry/metrics.js';

export const requestsLeftOut = new Counter({
  name: 'disburse_request_log_left_out_total',
  help: 'Requests of merchants that the request log left out: too many of a merchant that no secret signed (unsigned), the buffer was full while the database was unavailable (full), or the database refused their batch (refused).',
  labelNames: ['reason'] as const,
  registers,
});
