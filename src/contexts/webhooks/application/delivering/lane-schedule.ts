import { InjectQueue } from '@nestjs/bullmq';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { LRUCache } from 'lru-cache';
import { upTo } from '../../../../platform/cache-size.js';

/** A job says "check this endpoint now"; losing or doubling one does no harm. */
export const LANE_QUEUE = 'webhook-lanes';

export interface LaneJob {
  readonly endpoint_id: string;
}

/** What is due within the same quarter of a second has one job. */
const TICK_MS = 250;
/** What is due later than this needs no job: the sweeper finds it within a second. */
const MAX_DELAY_MS = 60_000;
/**
 * Jobs that a process adds in a second: each costs half a millisecond of it, and the sweeper finds any number of lanes with
 * one statement (ADR 77).
 */
const JOBS_PER_SECOND = 100;
const MAX_REMEMBERED = 10_000;

/** Wakes lanes when a retry is due, in whichever process takes the job. */
@Injectable()
export class LaneSchedule implements OnModuleInit {
  private readonly logger = new Logger(LaneSchedule.name);
  private readonly added = new LRUCache<string, true>(upTo(MAX_REMEMBERED));
  /** Jobs that were added within the last second, or are on their way to a queue that is unavailable. */
  private adding = 0;

  constructor(@InjectQueue(LANE_QUEUE) private readonly queue: Queue<LaneJob>) {}

  onModuleInit(): void {
    this.queue.on('error', (error) => this.logger.warn({ msg: 'queue unavailable', err: error }));
  }

  /** A delivery of the endpoint is due then. Returns at once: what has no job, the sweeper finds. */
  wakeIn(endpointId: string, delayMs: number): void {
    const now = Date.now();
    const tick = Math.ceil((now + delayMs) / TICK_MS);
    const jobId = `${endpointId}-${tick}`;
    if (delayMs > MAX_DELAY_MS || this.adding >= JOBS_PER_SECOND || this.added.has(jobId)) return;
    this.added.set(jobId, true);
    this.adding += 1;
    void this.queue
      .add('wake', { endpoint_id: endpointId }, { jobId, delay: tick * TICK_MS - now })
      .catch((error: Error) => {
        this.added.delete(jobId);
        this.logger.warn({ msg: 'lane left to the sweeper', endpoint_id: endpointId, err: error });
      })
      .finally(() => setTimeout(() => (this.adding -= 1), 1000).unref());
  }
}
