import { OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import { Inject, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import type { Job } from 'bullmq';
import { CONFIG, type Config } from '../../../../platform/config/config.js';
import { LANE_QUEUE, LaneSchedule, type LaneJob } from './lane-schedule.js';
import { Lanes } from './lanes.js';

/** Takes the jobs of the lane schedule in processes with the role `worker`. */
@Processor(LANE_QUEUE, { autorun: false, concurrency: 20 })
export class LaneWaker extends WorkerHost implements OnApplicationBootstrap {
  private readonly log = new Logger(LaneWaker.name);

  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'roles'>,
    private readonly lanes: Lanes,
    private readonly schedule: LaneSchedule,
  ) {
    super();
  }

  onApplicationBootstrap(): void {
    if (!this.config.roles.includes('worker')) return;
    this.worker.run().catch((error: Error) => this.log.error(`no more jobs are taken: ${error.message}`));
  }

  process(job: Job<LaneJob>): Promise<void> {
    // There may be more after what this job was for.
    this.schedule.expect(job.data.endpoint_id);
    this.lanes.wake(job.data.endpoint_id);
    return Promise.resolve();
  }

  @OnWorkerEvent('error')
  onError(error: Error): void {
    this.log.warn(`queue: ${error.message}`);
  }
}
