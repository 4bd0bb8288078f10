import { Injectable } from '@nestjs/common';
import { Log } from '../../../platform/telemetry/logger.js';
import { deliveries, deliveryDuration } from '../../../platform/telemetry/metrics.js';
import { traced } from '../../../platform/telemetry/tracing.js';
import type { Outcome } from '../../domain/outcome.js';
import type { ClaimedDelivery, DeliveryResult } from './delivery-table.js';

/** Outcomes as the metrics count them. */
const COUNTED = {
  succeeded: 'succeeded',
  retry: 'failed',
  exhausted: 'exhausted',
  gone: 'exhausted',
} as const satisfies Record<Outcome, string>;

/** What operators see of deliveries: one wide line, one count and one span per attempt. No bodies, no secrets. */
@Injectable()
export class DeliveryObserver {
  constructor(private readonly log: Log) {}

  span<T>(delivery: ClaimedDelivery, work: () => Promise<T>): Promise<T> {
    return traced('webhook.attempt', { ...idsOf(delivery), caused_by: delivery.traceparent ?? '' }, work);
  }

  dropped(delivery: ClaimedDelivery): void {
    deliveries.inc({ outcome: 'dropped' });
    this.log.wideLog('webhook dropped', idsOf(delivery));
  }

  attempted(delivery: ClaimedDelivery, url: string, result: DeliveryResult): void {
    const { attempt } = result;
    if (!attempt) return;
    deliveries.inc({
      outcome:
        attempt.outcome === 'retry' && result.state === 'exhausted' ? 'exhausted' : COUNTED[attempt.outcome],
    });
    deliveryDuration.observe(attempt.duration_ms / 1000);
    this.log.wideLog(
      'webhook attempt',
      {
        ...idsOf(delivery),
        attempt: result.attempts,
        // A path may hold a token of the merchant's; the host does not.
        host: new URL(url).host,
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

function idsOf({ delivery_id, endpoint_id, merchant_id, type }: ClaimedDelivery): Record<string, string> {
  return { delivery_id, endpoint_id, merchant_id, type };
}
