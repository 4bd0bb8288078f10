import { Counter, Gauge, Histogram } from 'prom-client';
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

export const verificationDelay = new Histogram({
  name: 'disburse_payout_verification_delay_seconds',
  help: 'Time from the finality of a reported transfer to its outcome, at most: since the last check that did not find it final, the time of its block or the report, whichever is the latest.',
  buckets: [1, 2.5, 5, 10, 15, 30, 60, 120, 300, 900, 3600],
  registers,
});

export const nodeUp = new Gauge({
  name: 'disburse_chain_node_up',
  help: '1 for a node of the chain that can be relied on, 0 for one that is unavailable, on another chain or behind, by its place in CHAIN_RPC_URL and its host.',
  labelNames: ['node', 'host'] as const,
  registers,
});

export const nodeHeadAge = new Gauge({
  name: 'disburse_chain_node_head_age_seconds',
  help: 'Age of the newest block that a node of the chain returned, by its place in CHAIN_RPC_URL and its host.',
  labelNames: ['node', 'host'] as const,
  registers,
});

export const payoutChecks = new Counter({
  name: 'disburse_payout_checks_total',
  help: 'Checks of a payout on the chain, by outcome: responded, no_response (of the node), not_confirmed (responses that contradict each other, or too few nodes that agree).',
  labelNames: ['outcome'] as const,
  registers,
});
