import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { CONFIG, type Config } from '../../../../platform/config/config.js';
import { Wakeable } from '../../../../platform/background/wakeable.js';
import { DeliveryTable } from '../../store/delivery-table.js';
import { Lanes } from './lanes.js';

const SWEEP_MS = 1000;
/** A sweep that took long is followed by a rest of as many times its length. */
const REST = 10;

/**
 * What makes every other loss harmless: says that this process lives, frees what dead ones held, and wakes the lanes
 * with something due, whatever became of their jobs.
 */
@Injectable()
export class Sweeper implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly log = new Logger(Sweeper.name);
  private readonly active: boolean;
  /** Apart from the sweep: on a large table that may take longer than a silent sender is believed to live. */
  private readonly pulse: Wakeable;
  private readonly work: Wakeable;
  /** On the clock of `performance.now()`. */
  private restUntil = 0;

  constructor(
    @Inject(CONFIG) config: Pick<Config, 'roles'>,
    table: DeliveryTable,
    private readonly lanes: Lanes,
  ) {
    this.active = config.roles.includes('worker');
    this.pulse = new Wakeable(
      () => table.beat(),
      (error) => this.log.warn(`heartbeat failed: ${(error as Error).message}`),
    );
    this.work = new Wakeable(
      async () => {
        const began = performance.now();
        for (const endpointId of await table.dueEndpoints()) lanes.wake(endpointId);
        const now = performance.now();
        this.restUntil = now + (now - began) * REST;
      },
      (error) => this.log.warn(`sweep failed: ${(error as Error).message}`),
    );
  }

  onApplicationBootstrap(): void {
    this.sweep();
  }

  @Interval(SWEEP_MS)
  sweep(): void {
    if (!this.active) return;
    this.pulse.wake();
    if (performance.now() >= this.restUntil) this.work.wake();
  }

  async beforeApplicationShutdown(): Promise<void> {
    if (!this.active) return;
    await Promise.all([this.pulse.stop(), this.work.stop()]);
    await this.lanes.stop().catch((error: Error) => this.log.warn(`leaving failed: ${error.message}`));
  }
}
