import { InjectQueue, OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import type { Job, Queue } from 'bullmq';
import { LRUCache } from 'lru-cache';
import { upTo } from '../../../platform/cache-size.js';
import { processConfig, type ProcessConfig } from '../../../platform/config/config.js';
import { Background, BackgroundWork } from '../../../platform/jobs/background-work.js';
import { DeliverySender } from './delivery-sender.service.js';
import { DeliveryTable } from './deliveries.store.js';
import { Lanes } from './lanes.service.js';

/** The queue of jobs that wake the sender (the lane) of an endpoint. A job may be lost or repeated. */
export const LANE_QUEUE = 'webhook-lanes';

export interface LaneJob {
  readonly endpoint_id: string;
}

/** The length of a tick. Deliveries of an endpoint that are due in the same tick share one job. */
const TICK_MS = 250;
/** The delay above which no job is created, because the sweep finds the delivery within a second. */
const MAX_DELAY_MS = 60_000;
/** The job limit of a process. A job costs half a millisecond; the sweep covers missing jobs (ADR 77). */
const JOBS_PER_SECOND = 100;
const MAX_REMEMBERED = 10_000;
const SWEEP_MS = 1000;
/** The pause after a sweep, in multiples of the sweep's duration. */
const REST = 10;
const EVERY_SECOND = { everyMs: SWEEP_MS, backoff: { firstMs: SWEEP_MS, maxMs: SWEEP_MS } } as const;

/** Sends due deliveries in `worker` processes. The saga, retry jobs and a sweep wake the senders. */
@Injectable()
@Processor(LANE_QUEUE, { autorun: false, concurrency: 20 })
export class DeliveryProcessor
  extends WorkerHost
  implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown
{
  /** Records heartbeats separately from the sweep, because the sweep of a large table may outlast leases. */
  @Background()
  readonly heartbeat = new BackgroundWork({
    name: 'heartbeat of deliveries',
    ...EVERY_SECOND,
    // Heartbeats continue until the lanes stop, because a sender without them loses its leases.
    stopsWithProvider: true,
    run: () => this.table.heartbeat(),
  });
  @Background()
  readonly sweep = new BackgroundWork({
    name: 'sweep of deliveries',
    ...EVERY_SECOND,
    run: () => this.wakeDue(),
  });

  private readonly log = new Logger(DeliveryProcessor.name);
  private readonly lanes: Lanes;
  private readonly added = new LRUCache<string, true>(upTo(MAX_REMEMBERED));
  /** The number of jobs added within the last second, or waiting for an unavailable queue. */
  private adding = 0;
  /** The end of the pause after a sweep, on the clock of `performance.now()`. */
  private restUntil = 0;

  constructor(
    @InjectQueue(LANE_QUEUE) private readonly queue: Queue<LaneJob>,
    @Inject(processConfig.KEY) private readonly config: ProcessConfig,
    private readonly table: DeliveryTable,
    sender: DeliverySender,
  ) {
    super();
    this.lanes = new Lanes(table, sender, (endpointId, delayMs) => this.wakeIn(endpointId, delayMs));
  }

  onModuleInit(): void {
    this.queue.on('error', (error) => this.onError(error));
  }

  onApplicationBootstrap(): void {
    if (!this.config.roles.includes('worker')) return;
    this.worker.run().catch((error: Error) => this.log.error({ msg: 'queue worker stopped', err: error }));
  }

  process({ data }: Job<LaneJob>): Promise<void> {
    this.wake(data.endpoint_id);
    return Promise.resolve();
  }

  @OnWorkerEvent('error')
  onError(error: Error): void {
    this.log.warn({ msg: 'queue unavailable', err: error });
  }

  wake(endpointId: string): void {
    this.lanes.wake(endpointId);
  }

  /** Adds a delayed job to wake the lane in any process. The sweep finds deliveries without a job. */
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
        this.log.warn({ msg: 'lane left to the sweep', endpoint_id: endpointId, err: error });
      })
      .finally(() => setTimeout(() => (this.adding -= 1), 1000).unref());
  }

  async beforeApplicationShutdown(): Promise<void> {
    if (!this.config.roles.includes('worker')) return;
    await Promise.all([this.heartbeat.stop(), this.sweep.stop()]);
    await this.lanes
      .stop()
      .catch((error: Error) => this.log.warn({ msg: 'deliveries not released', err: error }));
  }

  private async wakeDue(): Promise<void> {
    const began = performance.now();
    if (began < this.restUntil) return;
    for (const endpointId of await this.table.dueEndpoints()) this.wake(endpointId);
    const now = performance.now();
    this.restUntil = now + (now - began) * REST;
  }
}
