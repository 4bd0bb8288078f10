import { Inject, Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { Background, BackgroundWork } from '../../../../platform/jobs/background-work.js';
import { processConfig, type ProcessConfig } from '../../../../platform/config/config.js';
import { DeliveryTable } from '../../store/delivery-table.js';
import { Lanes } from './lanes.js';

const SWEEP_MS = 1000;
/** A sweep that took long is followed by a rest of as many times its length. */
const REST = 10;

/**
 * What makes every other loss harmless: says that this process lives, frees what dead ones held, and wakes the lanes
 * with something due, also when their jobs were lost.
 */
@Injectable()
export class Sweeper implements BeforeApplicationShutdown {
  /** Apart from the sweep: on a large table that may take longer than the leases of a sender without a heartbeat last. */
  @Background()
  readonly heartbeat = new BackgroundWork({
    name: 'heartbeat of deliveries',
    everyMs: SWEEP_MS,
    backoff: { firstMs: SWEEP_MS, maxMs: SWEEP_MS },
    // Until the end of the process: a sender without a heartbeat loses its leases.
    stopsWithProvider: true,
    run: () => this.table.heartbeat(),
  });
  @Background()
  readonly sweep = new BackgroundWork({
    name: 'sweep of deliveries',
    everyMs: SWEEP_MS,
    backoff: { firstMs: SWEEP_MS, maxMs: SWEEP_MS },
    run: () => this.wakeDue(),
  });

  private readonly log = new Logger(Sweeper.name);
  /** On the clock of `performance.now()`. */
  private restUntil = 0;

  constructor(
    @Inject(processConfig.KEY) private readonly config: ProcessConfig,
    private readonly table: DeliveryTable,
    private readonly lanes: Lanes,
  ) {}

  /** Leases are released once nothing here claims any more. */
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
    for (const endpointId of await this.table.dueEndpoints()) this.lanes.wake(endpointId);
    const now = performance.now();
    this.restUntil = now + (now - began) * REST;
  }
}
