import { InjectQueue } from '@nestjs/bullmq';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { LRUCache } from 'lru-cache';
import { DeliveryTable } from '../../store/delivery-table.js';

/** A job says "check this endpoint now"; losing or doubling one does no harm. */
export const LANE_QUEUE = 'webhook-lanes';

export interface LaneJob {
  readonly endpoint_id: string;
}

/** What is due within the same quarter of a second has one job. */
const TICK_MS = 250;
/**
 * Jobs that a process adds in a second: each costs half a millisecond of it, and the sweeper finds any number of lanes with
 * one statement (ADR 77).
 */
const JOBS_PER_SECOND = 100;
/** Jobs on their way to the queue. While it is unavailable they would only pile up. */
const ADDING_AT_MOST = 200;
const MAX_REMEMBERED = 10_000;

/** Wakes lanes when their next delivery is due, in whichever process takes the job: one delayed job per lane. */
@Injectable()
export class LaneSchedule implements OnModuleInit {
  private readonly logger = new Logger(LaneSchedule.name);
  /** Endpoints with something due later, as far as this process knows, and the job that it added last for each, or ''. */
  private readonly later = new LRUCache<string, string>({ max: MAX_REMEMBERED });
  private adding = 0;
  private thisSecond = { second: 0, jobs: 0 };

  constructor(
    @InjectQueue(LANE_QUEUE) private readonly queue: Queue<LaneJob>,
    private readonly table: DeliveryTable,
  ) {}

  onModuleInit(): void {
    this.queue.on('error', (error) => this.logger.warn(`queue: ${error.message}`));
  }

  /** Something of the endpoint's may be due later. Other endpoints cost nothing when their lanes end. */
  expect(endpointId: string): void {
    if (!this.later.has(endpointId)) this.later.set(endpointId, '');
  }

  /** A lane has ended: it is woken when its next delivery is due. Never rejects: what has no job, the sweeper finds. */
  async ended(endpointId: string): Promise<void> {
    if (!this.later.has(endpointId)) return;
    try {
      const delayMs = await this.table.nextDueIn(endpointId);
      if (delayMs === null) this.later.delete(endpointId);
      else await this.wakeIn(endpointId, delayMs);
    } catch (error) {
      this.later.set(endpointId, '');
      this.logger.warn(
        `lane of ${endpointId} not scheduled, left to the sweeper: ${(error as Error).message}`,
      );
    }
  }

  private async wakeIn(endpointId: string, delayMs: number): Promise<void> {
    const now = Date.now();
    const tick = Math.ceil((now + delayMs) / TICK_MS);
    const jobId = `${endpointId}-${tick}`;
    if (this.later.get(endpointId) === jobId || !this.mayAdd()) return;
    this.later.set(endpointId, jobId);
    this.adding += 1;
    try {
      await this.queue.add('wake', { endpoint_id: endpointId }, { jobId, delay: tick * TICK_MS - now });
    } finally {
      this.adding -= 1;
    }
  }

  private mayAdd(): boolean {
    const second = Math.floor(performance.now() / 1000);
    if (second !== this.thisSecond.second) this.thisSecond = { second, jobs: 0 };
    if (this.adding >= ADDING_AT_MOST || this.thisSecond.jobs >= JOBS_PER_SECOND) return false;
    this.thisSecond.jobs += 1;
    return true;
  }
}
