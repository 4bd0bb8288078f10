import { Gauge } from 'prom-client';
import { registers } from '../../platform/telemetry/metrics.js';

export const pendingApprovals = new Gauge({
  name: 'disburse_operations_pending_approval',
  help: 'Operations of operators that wait for the approval of a second person.',
  registers,
});

export const overdueConfirmations = new Gauge({
  name: 'disburse_operations_unconfirmed_overdue',
  help: 'Operations that were executed at once and have not been confirmed by a second person within 24 hours.',
  registers,
});
