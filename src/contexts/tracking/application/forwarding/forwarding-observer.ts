import { Injectable } from '@nestjs/common';
import { Log } from '../../../../platform/telemetry/logger.js';
import {
  analyticsUnavailable,
  analyticsBacklog,
  analyticsBacklogAge,
  analyticsEvents,
  analyticsRequests,
} from '../../metrics.js';
import type { SendResult } from '../ports.js';
import type { WorkItem } from '../../../../platform/jobs/work-items.js';
import type { PendingBatch } from './request-limits.js';
import type { Backlog } from '../../store/forwarding-table.js';
import type { Unavailable } from './forwarding-round.js';

/** Causes that need an operator. */
const FOR_OPERATORS: readonly string[] = ['unauthorized', 'misconfigured', 'forbidden'];

/** Metrics and logs of forwarding, without names, ids of users or payloads. */
@Injectable()
export class ForwardingObserver {
  constructor(private readonly log: Log) {}

  sent(result: SendResult, events: number, durationMs: number): void {
    const outcome = result.outcome === 'unavailable' ? result.cause : result.outcome;
    analyticsRequests.inc({ outcome });
    if (result.outcome === 'accepted') analyticsEvents.inc({ outcome: 'forwarded' }, events);
    if (result.outcome === 'parted') analyticsEvents.inc({ outcome: 'throttled' }, result.throttled.length);
    this.log.wideLog(
      'events forwarded',
      { outcome, events, duration_ms: Math.round(durationMs) },
      result.outcome === 'accepted' ? 'info' : 'warn',
    );
  }

  recorded(batches: readonly PendingBatch[]): void {
    for (const { row, refusals } of batches) {
      if (refusals.length === 0) continue;
      analyticsEvents.inc({ outcome: 'refused' }, refusals.length);
      const reasons: Record<string, number> = {};
      for (const { reason } of refusals) reasons[reason] = (reasons[reason] ?? 0) + 1;
      this.log.wideLog(
        'events refused by the analytics provider',
        { batch_id: row.batch_id, merchant_id: row.merchant_id, events: refusals.length, reasons },
        'warn',
      );
    }
  }

  unreadable({ batch_id, merchant_id }: { batch_id: string; merchant_id: string }): void {
    this.log.wideLog(
      'event batch not forwarded: its body cannot be read',
      { batch_id, merchant_id },
      'error',
    );
  }

  unavailable({ cause, detail }: Unavailable, { failures }: WorkItem, pauseMs: number): void {
    this.log.wideLog(
      'analytics provider unavailable',
      { cause, detail, failures: failures + 1, next_in_ms: Math.round(pauseMs) },
      FOR_OPERATORS.includes(cause) ? 'error' : 'warn',
    );
  }

  back({ cause, failures, failing_seconds }: WorkItem): void {
    this.log.wideLog('analytics provider recovered', { cause, failures, failing_seconds });
  }

  measured({ events, oldest, failures, cause }: Backlog): void {
    analyticsBacklog.set(events);
    analyticsBacklogAge.set(oldest === null ? 0 : Math.max(0, (Date.now() - oldest.getTime()) / 1000));
    analyticsUnavailable.reset();
    if (failures > 0 && cause !== null) analyticsUnavailable.set({ cause }, failures);
  }
}
