import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock, HOUR_MS } from '../../../kernel/clock.js';
import { Periodic } from '../../../platform/jobs/background-work.js';
import { deleteBefore } from '../../../platform/postgres/batches.js';
import { earlierNow } from '../../../platform/postgres/clock-check.js';
import { Database } from '../../../platform/postgres/database.js';
import { trackingConfig, type TrackingConfig } from '../tracking.config.js';

/** Deletes expired events and finished batches. The id of a deleted event counts as new again. */
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
    const { trackingRawDays, trackingRetentionMonths: months } = this.config;
    // Months are subtracted in UTC, because the session may have another time zone.
    const isOver = (time: string, age: string) =>
      `${time} < ($1::timestamptz at time zone 'UTC' - interval '${age}') at time zone 'UTC'`;
    const finished = `state in ('forwarded', 'failed') and ${isOver('received_at', `${trackingRawDays} days`)}`;
    await deleteBefore(pool, 'tracking.batches', finished, now, signal);
    await deleteBefore(pool, 'tracking.events', isOver('received_at', `${months} months`), now, signal);
    await deleteBefore(
      pool,
      'tracking.refused_events',
      isOver('refused_at', `${months} months`),
      now,
      signal,
    );
  }
}
