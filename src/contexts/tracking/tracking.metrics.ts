import { Counter, Gauge, Histogram } from 'prom-client';
import { registers, SECONDS } from '../../platform/telemetry/metrics.js';

const counter = (name: string, help: string) =>
  new Counter({ name: `disburse_${name}_total`, help, labelNames: ['outcome'] as const, registers });
const gauge = (name: string, help: string) => new Gauge({ name: `disburse_${name}`, help, registers });

export const analyticsRequests = counter(
  'analytics_requests',
  'Requests to the analytics provider, by outcome: accepted, parted, rejected, or why it is unavailable: unreachable, timeout, failing, rate_limited, unauthorized, misconfigured, forbidden.',
);

export const analyticsEvents = counter(
  'analytics_events',
  'Events passed on to the analytics provider, by outcome: forwarded, throttled (tried again later), refused (for ever).',
);

export const analyticsBacklog = gauge(
  'analytics_backlog_events',
  'Processed events that wait to be passed on to the analytics provider, counted over at most 10,000 batches.',
);

export const analyticsBacklogAge = gauge(
  'analytics_backlog_age_seconds',
  'Time since the oldest of these events was received.',
);

export const analyticsUnavailable = new Gauge({
  name: 'disburse_analytics_unavailable',
  help: 'Failed requests in a row to the analytics provider, by cause: unauthorized, misconfigured and forbidden need an operator.',
  labelNames: ['cause'] as const,
  registers,
});

export const receivedBatches = counter(
  'event_batches_received',
  'Batches of events that merchants sent, by outcome: accepted (on disk), malformed, too_large.',
);

export const batchStoreDuration = new Histogram({
  name: 'disburse_event_batch_store_duration_seconds',
  help: 'Time until a batch of events is on disk, with the wait for the statement before its own.',
  buckets: SECONDS,
  registers,
});

export const eventBatches = counter(
  'event_batches',
  'Accepted batches of events that were dealt with, by outcome: processed, failed.',
);

export const trackedEvents = counter(
  'events',
  'Events of processed batches, by outcome: new, repeated (their event_id was seen before).',
);

export const waitingBatches = gauge(
  'event_batches_waiting',
  'Accepted batches of events that wait to be processed.',
);
