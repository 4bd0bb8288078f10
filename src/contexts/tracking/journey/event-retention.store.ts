import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock, HOUR_MS } from '../../../kernel/clock.js';
import { Periodic } from '../../../platform/jobs/background-work.js';
import { deleteBefore } from '../../../platform/postgres/batches.js';
import { earlierNow } from '../../../platform/postgres/clock-check.js';
import { Database } from '../../../platform/postgres/database.js';
import { trackingConfig, type TrackingConfig } from '../tracking.config.js';

/** Deletes old events and finished batches. A deleted event's id counts as new again. */
@Injectable()
export class EventRetention {
  constructor(
    private readonly database: Database,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(trackingConfig.KEY) private readonly config: TrackingConfig,
  ) {}

  @Periodic({ name: 'retention of events', everyMs: HOUR_MS })
  async prune(signal?: AbortSignal): Promise<void> {
    const { pool } = this.database;
    const now = await earlierNow(this.database, this.clock);
    const day = new Date(now);
    day.setUTCDate(day.getUTCDate() - this.config.trackingRawDays);
    const month = monthsBefore(now, this.config.trackingRetentionMonths);
    const finished = "state in ('forwarded', 'failed') and received_at < $1";
    await deleteBefore(pool, 'tracking.batches', finished, day, signal);
    await deleteBefore(pool, 'tracking.events', 'received_at < $1', month, signal);
    await deleteBefore(pool, 'tracking.refused_events', 'refused_at < $1', month, signal);
  }
}

/** Returns the same day `months` earlier, or the last day of a shorter month. */
export function monthsBefore(now: Date, months: number): Date {
  const then = new Date(now);
  then.setUTCMonth(then.getUTCMonth() - months);
  // setUTCMonth continues into the next month where the day does not exist.
  if (then.getUTCDate() !== now.getUTCDate()) then.setUTCDate(0);
  return then;
}
