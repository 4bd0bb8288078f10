import { AsyncLocalStorage } from 'node:async_hooks';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { withTimeout } from '../timeout.js';

/** The registry of all metrics. In prom-client's global registry, two services in a test would clash. */
export const registry = new Registry();

export const registers = [registry];
export const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export const httpRequests = new Counter({
  name: 'disburse_http_requests_total',
  help: 'Requests responded to, by route, method and status.',
  labelNames: ['route', 'method', 'status'] as const,
  registers,
});

export const httpDuration = new Histogram({
  name: 'disburse_http_request_duration_seconds',
  help: 'Time from the arrival of a request to the end of its response, by route and method.',
  labelNames: ['route', 'method'] as const,
  buckets: SECONDS,
  registers,
});

export const connectionsCut = new Counter({
  name: 'disburse_http_connections_cut_total',
  help: 'Connections closed at once because a listener had MAX_CONNECTIONS.',
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
  help: '1 for a subscription of this process that waits at a forged event (type "forged"), or at one of a type that this version does not know, by subscription and type.',
  labelNames: ['subscription', 'type'] as const,
  registers,
});

export const readWaits = new Counter({
  name: 'disburse_read_waits_total',
  help: 'Waits of reads and responses for the read models to include earlier writes, by outcome: current, late (not within READ_YOUR_WRITES_MS), failed (the event store was unavailable).',
  labelNames: ['outcome'] as const,
  registers,
});

export const healthCheck = new Gauge({
  name: 'disburse_health_check',
  help: 'Checks of GET /health/ready: 1 for one that passes, 0 for one that fails, by check.',
  labelNames: ['check'] as const,
  registers,
});

export const clockSkew = new Gauge({
  name: 'disburse_clock_skew_seconds',
  help: "How far this process's clock is ahead of the database's; negative when it is behind.",
  registers,
});

/** True within a measurement, whose statements use other connections than requests do. */
export const measuring = new AsyncLocalStorage<true>();

const KEPT_MS = 500;

/** Returns a function whose calls share a run and its result for 500 ms, as callers are unauthenticated. */
export function sharedMeasurement<T>(run: () => Promise<T>): () => Promise<T> {
  let last: Promise<T> | null = null;
  let endedAt = Infinity;
  return () => {
    if (last !== null && performance.now() - endedAt < KEPT_MS) return last;
    endedAt = Infinity;
    const current = measuring.run(true, run);
    last = current;
    current.then(
      () => (endedAt = performance.now()),
      () => (last = null),
    );
    return current;
  };
}

const measurements = new Set<() => Promise<void>>();
/** The timeout of a measurement, below the 10 s of scrapers, so that a scrape survives a database failure. */
const MEASURE_TIMEOUT_MS = 3000;

/** Runs `measure` at each scrape. Its failure leaves gauges unchanged. Returns the unregister function. */
export function measureOnScrape(measure: () => Promise<void>): () => void {
  measurements.add(measure);
  return () => void measurements.delete(measure);
}

export const scrape = sharedMeasurement(async () => {
  await Promise.allSettled(
    [...measurements].map((measure) => withTimeout(MEASURE_TIMEOUT_MS, measure(), () => undefined)),
  );
  return registry.metrics();
});

export function collectNodeMetrics(): void {
  const isCollecting = registry.getSingleMetric('nodejs_version_info') !== undefined;
  if (!isCollecting) collectDefaultMetrics({ register: registry });
}
