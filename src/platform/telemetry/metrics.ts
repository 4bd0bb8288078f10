import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** What GET /metrics shows. Contexts observe the metrics below; nothing else defines any. */
export const registry = new Registry();

const registers = [registry];
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export const httpRequests = new Counter({
  name: 'disburse_http_requests_total',
  help: 'Requests answered, by route, method and status.',
  labelNames: ['route', 'method', 'status'] as const,
  registers,
});

export const httpDuration = new Histogram({
  name: 'disburse_http_request_duration_seconds',
  help: 'Time from the arrival of a request to the end of its answer, by route and method.',
  labelNames: ['route', 'method'] as const,
  buckets: SECONDS,
  registers,
});

export const connectionsCut = new Counter({
  name: 'disburse_http_connections_cut_total',
  help: 'Connections closed by force: too many in the process or from one address, too many requests pipelined, a client that does not take its responses (stalled) or does not go (lingering).',
  labelNames: ['reason'] as const,
  registers,
});

export const idempotentRequests = new Counter({
  name: 'disburse_idempotent_requests_total',
  help: 'Requests with an Idempotency-Key, by outcome: fresh, replayed, in_flight, mismatch.',
  labelNames: ['outcome'] as const,
  registers,
});

export const commandConflicts = new Counter({
  name: 'disburse_command_conflicts_total',
  help: 'Commands decided again because somebody else had appended, by stream category.',
  labelNames: ['category'] as const,
  registers,
});

export const appendDuration = new Histogram({
  name: 'disburse_append_duration_seconds',
  help: 'Time of one call that appends to the event store.',
  buckets: SECONDS,
  registers,
});

export const appendUnits = new Counter({
  name: 'disburse_append_units_total',
  help: 'Units of work that went along in appends: divided by the count of appends it is the size of a group commit.',
  registers,
});

export const subscriptionLag = new Gauge({
  name: 'disburse_subscription_lag_seconds',
  help: 'Age of the oldest event that a subscription has not handled yet, by subscription.',
  labelNames: ['subscription'] as const,
  registers,
});

export const subscriptionHalted = new Gauge({
  name: 'disburse_subscription_halted',
  help: '1 for a subscription of this process that waits at an event of a type that this version does not know, by subscription and type.',
  labelNames: ['subscription', 'type'] as const,
  registers,
});

export const deliveries = new Counter({
  name: 'disburse_webhook_delivery_attempts_total',
  help: 'Attempts to deliver a webhook, by outcome: succeeded, failed, exhausted.',
  labelNames: ['outcome'] as const,
  registers,
});

export const deliveryDuration = new Histogram({
  name: 'disburse_webhook_delivery_duration_seconds',
  help: 'Time a receiver took to answer an attempt.',
  buckets: SECONDS,
  registers,
});

export const endpointsDisabled = new Counter({
  name: 'disburse_webhook_endpoints_disabled_total',
  help: 'Webhook endpoints that the service disabled by itself, by cause: gone, failing.',
  labelNames: ['cause'] as const,
  registers,
});

export const pendingPayouts = new Gauge({
  name: 'disburse_pending_payouts',
  help: 'Payouts that wait for their transfer to be verified.',
  registers,
});

export const payoutLooks = new Counter({
  name: 'disburse_payout_looks_total',
  help: 'Looks at the chain for a payout, by outcome: answered, unanswered (by the node), doubtful (answers that contradict each other, or too few nodes that agree).',
  labelNames: ['outcome'] as const,
  registers,
});

export const clockSkew = new Gauge({
  name: 'disburse_clock_skew_seconds',
  help: "How far this process's clock is ahead of the database's; negative when it is behind.",
  registers,
});

export const analyticsRequests = new Counter({
  name: 'disburse_analytics_requests_total',
  help: 'Requests to the analytics provider, by outcome: accepted, parted, too_large, rejected, or why it is away: unreachable, timeout, failing, rate_limited, unauthorized, misconfigured, forbidden.',
  labelNames: ['outcome'] as const,
  registers,
});

export const analyticsEvents = new Counter({
  name: 'disburse_analytics_events_total',
  help: 'Events passed on to the analytics provider, by outcome: forwarded, throttled (tried again later), refused (for ever).',
  labelNames: ['outcome'] as const,
  registers,
});

export const analyticsBacklog = new Gauge({
  name: 'disburse_analytics_backlog_events',
  help: 'Processed events that wait to be passed on to the analytics provider, counted over at most 10,000 batches.',
  registers,
});

export const analyticsBacklogAge = new Gauge({
  name: 'disburse_analytics_backlog_age_seconds',
  help: 'Time since the oldest of these events was received.',
  registers,
});

export const analyticsAway = new Gauge({
  name: 'disburse_analytics_away',
  help: 'Tries in a row in which the analytics provider took nothing, by cause: unauthorized, misconfigured and forbidden need an operator.',
  labelNames: ['cause'] as const,
  registers,
});

export const receivedBatches = new Counter({
  name: 'disburse_event_batches_received_total',
  help: 'Batches of events that merchants sent, by outcome: accepted (on disk), malformed, too_large.',
  labelNames: ['outcome'] as const,
  registers,
});

export const receivedEvents = new Counter({
  name: 'disburse_events_received_total',
  help: 'Events of these batches, by outcome: accepted, refused (with their batch, and as far as it was read).',
  labelNames: ['outcome'] as const,
  registers,
});

export const batchStoreDuration = new Histogram({
  name: 'disburse_event_batch_store_duration_seconds',
  help: 'Time of one statement that stores batches of events.',
  buckets: SECONDS,
  registers,
});

export const eventBatches = new Counter({
  name: 'disburse_event_batches_total',
  help: 'Accepted batches of events that were dealt with, by outcome: processed, failed.',
  labelNames: ['outcome'] as const,
  registers,
});

export const trackedEvents = new Counter({
  name: 'disburse_events_total',
  help: 'Events of processed batches, by outcome: new, repeated (their event_id was seen before).',
  labelNames: ['outcome'] as const,
  registers,
});

export const waitingBatches = new Gauge({
  name: 'disburse_event_batches_waiting',
  help: 'Accepted batches of events that wait to be processed.',
  registers,
});

const measurements: (() => Promise<void>)[] = [];

/** Has something measured, into a gauge, whenever GET /metrics is asked. One that fails leaves its gauge as it was. */
export function measureOnScrape(measure: () => Promise<void>): void {
  measurements.push(measure);
}

/** Everything, measured now, in Prometheus' text form. */
export async function scrape(): Promise<string> {
  await Promise.allSettled(measurements.map((measure) => measure()));
  return registry.metrics();
}

let defaults = false;

/** Adds the metrics of Node.js itself; once per process. */
export function collectNodeMetrics(): void {
  if (defaults) return;
  defaults = true;
  collectDefaultMetrics({ register: registry });
}
