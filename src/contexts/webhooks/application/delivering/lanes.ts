import { Injectable, Logger, Inject, type OnApplicationBootstrap } from '@nestjs/common';
import { OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import type { Job } from 'bullmq';
import { withTimeout } from '../../../../platform/timeout.js';
import { DeliverySender } from './delivery-sender.js';
import { DeliveryTable } from '../../store/delivery-table.js';
import { LANE_QUEUE, type LaneJob } from './lane-schedule.js';
import { SendingLane } from './lane.js';
import { SendSlots } from './send-slots.js';
import { CONFIG, type Config } from '../../../../platform/config/config.js';

/** How long a shutdown waits for what is in flight before it releases it. */
const DRAIN_MS = 10_000;

/** The lanes of this process: at most one per endpoint. Waking one that runs, or one with nothing due, does no harm. */
@Injectable()
export class Lanes {
  private readonly log = new Logger(Lanes.name);
  private readonly running = new Map<string, { lane: SendingLane; done: Promise<void> }>();
  private stopping = false;

  constructor(
    private readonly table: DeliveryTable,
    private readonly sender: DeliverySender,
    private readonly slots: SendSlots,
  ) {}

  wake(endpointId: string): void {
    if (this.stopping) return;
    const running = this.running.get(endpointId);
    if (running) running.lane.wake();
    else this.start(endpointId);
  }

  /** Starts nothing more, waits a while for what is in flight, then releases the rest. */
  async stop(): Promise<void> {
    this.stopping = true;
    for (const { lane } of this.running.values()) lane.stop();
    const done = Promise.all([...this.running.values()].map((each) => each.done));
    await withTimeout(DRAIN_MS, done, () => undefined);
    this.sender.stop();
    await this.table.leave();
  }

  private start(endpointId: string): void {
    const parts = {
      table: this.table,
      slots: this.slots,
      deliver: this.sender.deliver.bind(this.sender),
      failed: (error: Error) => this.log.warn({ msg: 'lane waiting', endpoint_id: endpointId, err: error }),
    };
    const lane = new SendingLane(endpointId, parts, () => this.running.delete(endpointId));
    this.running.set(endpointId, { lane, done: lane.run() });
  }
}

/** Takes the jobs of the lane schedule in processes with the role `worker`. */
@Processor(LANE_QUEUE, { autorun: false, concurrency: 20 })
export class LaneWaker extends WorkerHost implements OnApplicationBootstrap {
  private readonly log = new Logger(LaneWaker.name);

  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'roles'>,
    private readonly lanes: Lanes,
  ) {
    super();
  }

  onApplicationBootstrap(): void {
    if (!this.config.roles.includes('worker')) return;
    this.worker.run().catch((error: Error) => this.log.error({ msg: 'queue worker stopped', err: error }));
  }

  process(job: Job<LaneJob>): Promise<void> {
    this.lanes.wake(job.data.endpoint_id);
    return Promise.resolve();
  }

  @OnWorkerEvent('error')
  onError(error: Error): void {
    this.log.warn({ msg: 'queue unavailable', err: error });
  }
}
