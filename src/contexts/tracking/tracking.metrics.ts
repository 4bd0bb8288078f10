import { Counter, Gauge, Histogram } from 'prom-client';
import { registers, SECONDS } from '../../platform/telemetry/metrics.js';

export const analyticsRequests = new Counter({
  name: 'disburse_analytics_requests_total',
  help: 'Requests to the analytics provider, by outcome: accepted, parted, too_large, rejected, or why it is unavailable: unreachable, timeout, failing, rate_limited, unauthorized, misconfigured, forbidden.',
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

export const analyticsUnavailable = new Gauge({
  name: 'disburse_analytics_unavailable',
  help: 'Failed requests in a row to the analytics provider, by cause: unauthorized, misconfigured and forbidden need an operator.',
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
  help: 'Time until a batch of events is on disk, with the wait for the statement before its own.',
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
