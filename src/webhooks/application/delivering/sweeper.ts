import { Inject, Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { DeliveryTable } from './delivery-table.js';
import { Lanes } from './lanes.js';

const SWEEP_MS = 1000;

/**
 * What makes every other loss harmless: says that this process lives, frees what dead ones held, and wakes the lanes
 * with something due, whatever became of their jobs.
 */
@Injectable()
export class Sweeper implements BeforeApplicationShutdown {
  private readonly log = new Logger(Sweeper.name);
  private readonly active: boolean;
  private sweeping: Promise<void> | null = null;
  private stopped = false;

  constructor(
    @Inject(CONFIG) config: Pick<Config, 'roles'>,
    private readonly table: DeliveryTable,
    private readonly lanes: Lanes,
  ) {
    this.active = config.roles.includes('worker');
  }

  @Interval(SWEEP_MS)
  async sweep(): Promise<void> {
    if (!this.active || this.stopped || this.sweeping) return;
    this.sweeping = this.once().catch((error: Error) => this.log.warn(`sweep failed: ${error.message}`));
    await this.sweeping;
    this.sweeping = null;
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopped = true;
    await this.sweeping;
    if (this.active) await this.lanes.stop().catch((error: Error) => this.log.warn(`stop: ${error.message}`));
  }

  private async once(): Promise<void> {
    await this.table.beat();
    for (const endpointId of await this.table.dueEndpoints()) this.lanes.wake(endpointId);
  }
}
