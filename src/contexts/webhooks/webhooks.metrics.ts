import { Counter, Histogram } from 'prom-client';
import { registers, SECONDS } from '../../platform/telemetry/metrics.js';
import type { DeliveryClaim } from './deliveries/deliveries.store.js';
import { occurredAt } from './deliveries/published-events.service.js';
import { SUSPENDED_MS } from './deliveries/retry.js';

export const deliveries = new Counter({
  name: 'disburse_webhook_delivery_attempts_total',
  help: 'Attempts to deliver a webhook, by outcome: succeeded, failed, exhausted, and dropped without an attempt.',
  labelNames: ['outcome'] as const,
  registers,
});

export const deliveryDuration = new Histogram({
  name: 'disburse_webhook_delivery_duration_seconds',
  help: 'Time a receiver took to respond to an attempt.',
  buckets: SECONDS,
  registers,
});

export const firstAttemptDelay = new Histogram({
  name: 'disburse_webhook_first_attempt_delay_seconds',
  help: 'Time from an event to the first attempt to deliver its webhook; from when it was due, for one that waited for a suspended merchant or was recovered. Not of one that took the last slot of its endpoint: it may have waited for the receiver.',
  buckets: [...SECONDS, 60, 300, 3600],
  registers,
});

export const endpointsDisabled = new Counter({
  name: 'disburse_webhook_endpoints_disabled_total',
  help: 'Webhook endpoints that the service disabled automatically, by cause: gone, failing.',
  labelNames: ['cause'] as const,
  registers,
});

/** Observes the delay of a first attempt: since the event, or `due_at` after a suspension or recovery. */
export function observeFirstAttempt(
  { attempts, body, created_at, due_at }: Pick<DeliveryClaim, 'attempts' | 'body' | 'created_at' | 'due_at'>,
  startedAt: Date,
): void {
  if (attempts > 0) return;
  const isDeferred = due_at.getTime() - created_at.getTime() >= SUSPENDED_MS;
  const since = isDeferred ? due_at : (occurredAt(body) ?? created_at);
  firstAttemptDelay.observe(Math.max(0, startedAt.getTime() - since.getTime()) / 1000);
}
