import { InjectQueue } from '@nestjs/bullmq';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import type { Queue } from 'bullmq';

/** A job says "look at this endpoint now", and losing or doubling one does no harm. */
export const LANE_QUEUE = 'webhook-lanes';

export interface LaneJob {
  readonly endpoint_id: string;
}

/** Retries that are due within the same quarter of a second share one job. */
const TICK_MS = 250;
/** What is further ahead than this is left to the sweeper: a second is nothing to it, and the queue stays short. */
const HORIZON_MS = 60_000;
/** Jobs on their way to the queue. While it is away they would only pile up. */
const ADDING_AT_MOST = 1000;

/** Wakes lanes when their next delivery is due, in whichever process takes the job. */
@Injectable()
export class LaneSchedule implements OnModuleInit {
  private readonly log = new Logger(LaneSchedule.name);
  /** Jobs this process added and that may still be ahead, by id, with the Unix milliseconds they are for. */
  private readonly ahead = new Map<string, number>();

  private adding = 0;

  constructor(@InjectQueue(LANE_QUEUE) private readonly queue: Queue<LaneJob>) {}

  onModuleInit(): void {
    this.queue.on('error', (error) => this.log.warn(`queue: ${error.message}`));
  }

  /** Never rejects: what is not scheduled here, the sweeper finds within a second. */
  async wakeIn(endpointId: string, delayMs: number): Promise<void> {
    if (delayMs > HORIZON_MS || this.adding >= ADDING_AT_MOST) return;
    const now = Date.now();
    const tick = Math.ceil((now + delayMs) / TICK_MS);
    const jobId = `${endpointId}-${tick}`;
    if (this.ahead.has(jobId)) return;
    this.forgetPast(now);
    this.ahead.set(jobId, tick * TICK_MS);
    this.adding += 1;
    try {
      await this.queue.add('wake', { endpoint_id: endpointId }, { jobId, delay: tick * TICK_MS - now });
    } catch (error) {
      this.ahead.delete(jobId);
      this.log.warn(`lane of ${endpointId} is left to the sweeper: ${(error as Error).message}`);
    } finally {
      this.adding -= 1;
    }
  }

  private forgetPast(now: number): void {
    for (const [jobId, at] of this.ahead) {
      if (at > now) break;
      this.ahead.delete(jobId);
    }
  }
}
