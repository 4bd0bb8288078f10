import { Counter, Gauge } from 'prom-client';
import { registers } from '../../platform/telemetry/metrics.js';

export const pendingPayoutsGauge = new Gauge({
  name: 'disburse_pending_payouts',
  help: 'Payouts that wait for their transfer to be verified.',
  registers,
});

export const finalAge = new Gauge({
  name: 'disburse_chain_final_age_seconds',
  help: 'How old the newest final block of the chain of payouts was when it was last read.',
  registers,
});

export const payoutChecks = new Counter({
  name: 'disburse_payout_checks_total',
  help: 'Checks of a payout on the chain, by outcome: responded, no_response (of the node), not_confirmed (responses that contradict each other, or too few nodes that agree).',
  labelNames: ['outcome'] as const,
  registers,
});
