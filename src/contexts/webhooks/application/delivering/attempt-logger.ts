import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { upTo } from '../../../../platform/cache-size.js';
import { Log } from '../../../../platform/telemetry/logger.js';
import { isTracing, traced } from '../../../../platform/telemetry/tracing.js';
import { deliveries, deliveryDuration, firstAttemptDelay } from '../../metrics.js';
import { occurredAt } from '../published-events.js';
import { SUSPENDED_MS } from '../../domain/retry.js';
import type { AttemptRecord, ClaimedDelivery, DeliveryResult } from '../../store/delivery-table.js';

/** What operators see of deliveries: one wide line, one count and one span per attempt. No bodies, no secrets. */
@Injectable()
export class AttemptLogger {
  /** By URL. */
  private readonly hosts = new LRUCache<string, string>({
    ...upTo(10_000),
    memoMethod: (url) => new URL(url).host,
  });

  constructor(private readonly log: Log) {}

  span<T>(delivery: ClaimedDelivery, work: () => Promise<T>): Promise<T> {
    if (!isTracing()) return work();
    return traced('webhook.attempt', { ...idsOf(delivery), caused_by: delivery.traceparent ?? '' }, work);
  }

  dropped(delivery: ClaimedDelivery): void {
    deliveries.inc({ outcome: 'dropped' });
    this.log.wideLog('webhook dropped', idsOf(delivery));
  }

  /** A row that the service did not create, or that somebody changed since. */
  forged(delivery: ClaimedDelivery): void {
    deliveries.inc({ outcome: 'dropped' });
    this.log.wideLog('webhook dropped: its MAC is missing or wrong', idsOf(delivery), 'error');
  }

  /** Of a delivery that did not wait for its receiver. */
  firstAttempt(delivery: ClaimedDelivery, { started_at: startedAt }: AttemptRecord): void {
    if (delivery.attempts === 0) firstAttemptDelay.observe(secondsSinceEvent(delivery, startedAt));
  }

  attempted(delivery: ClaimedDelivery, url: string, result: DeliveryResult, attempt: AttemptRecord): void {
    deliveries.inc({ outcome: result.state === 'pending' ? 'failed' : result.state });
    deliveryDuration.observe(attempt.duration_ms / 1000);
    this.log.wideLog(
      'webhook attempt',
      {
        // One by one: every attempt writes this line, and a spread costs more than all the rest of it.
        delivery_id: delivery.delivery_id,
        endpoint_id: delivery.endpoint_id,
        merchant_id: delivery.merchant_id,
        type: delivery.type,
        attempt: result.attempts,
        // A path may hold a token of the merchant's; the host does not.
        host: this.hosts.memo(url),
        outcome: attempt.outcome,
        state: result.state,
        status: attempt.http_status,
        phase: attempt.failure_phase,
        error: attempt.error,
        late_ms: Math.max(0, attempt.started_at.getTime() - delivery.due_at.getTime()),
        duration_ms: attempt.duration_ms,
        next_in_ms: result.state === 'pending' ? result.delay_ms : null,
      },
      attempt.outcome === 'succeeded' ? 'info' : 'warn',
    );
  }
}

/** A delivery that waited for its merchant, or was recovered, was due later than it was created. */
function secondsSinceEvent(
  { body, created_at: createdAt, due_at: dueAt }: ClaimedDelivery,
  now: Date,
): number {
  const isDeferred = dueAt.getTime() - createdAt.getTime() >= SUSPENDED_MS;
  const since = isDeferred ? dueAt : (occurredAt(body) ?? createdAt);
  return Math.max(0, now.getTime() - since.getTime()) / 1000;
}

function idsOf({ delivery_id, endpoint_id, merchant_id, type }: ClaimedDelivery): Record<string, string> {
  return { delivery_id, endpoint_id, merchant_id, type };
}
