import { Gauge } from 'prom-client';
import { registers } from '../../platform/telemetry/metrics.js';

export const pendingApprovals = new Gauge({
  name: 'disburse_operations_pending_approval',
  help: 'Operations of operators that wait for the approval of a second person.',
  registers,
});

export const dueWork = new Gauge({
  name: 'disburse_due_work',
  help: 'Work that is due and that no process performs, by kind of work; webhooks.deliveries are deliveries. Of processes with the role worker. Exact up to 10,000.',
  labelNames: ['work'] as const,
  registers,
});

export const dueWorkAge = new Gauge({
  name: 'disburse_due_work_oldest_seconds',
  help: 'How long the oldest of this work has been due, by kind of work; 0 where nothing is.',
  labelNames: ['work'] as const,
  registers,
});

export const overdueConfirmations = new Gauge({
  name: 'disburse_operations_unconfirmed_overdue',
  help: 'Operations that were executed at once and have not been confirmed by a second person within 24 hours.',
  registers,
});
