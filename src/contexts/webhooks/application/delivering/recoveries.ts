import { Inject, Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { CONFIG, type Config } from '../../../../platform/config/config.js';
import { Wakeable } from '../../../../platform/background/wakeable.js';
import { RecoveryTable } from '../../store/recoveries.js';
import { Lanes } from './lanes.js';

const TURN_MS = 1000;
/** Endpoints that get a chunk in one turn. */
export const ENDPOINTS_PER_TURN = 100;

/**
 * Carries out recoveries in chunks, each in a transaction that keeps the place it came to: after a crash another process
 * goes on from there. Only what had ended when the recovery was accepted is taken, so that what is exhausted anew stays
 * so, and every delivery is looked at once.
 */
@Injectable()
export class Recoveries implements BeforeApplicationShutdown {
  private readonly log = new Logger(Recoveries.name);
  private readonly active: boolean;
  private readonly work: Wakeable;
  /** The last endpoint that had its turn: however many wait for slow receivers, the others have theirs. */
  private after: string | null = null;
  private stopping = false;

  constructor(
    @Inject(CONFIG) config: Pick<Config, 'roles'>,
    private readonly table: RecoveryTable,
    @Inject(Lanes) private readonly lanes: Pick<Lanes, 'wake'>,
  ) {
    this.active = config.roles.includes('worker');
    this.work = new Wakeable(
      () => this.turn(),
      (error) => this.log.warn(`recoveries wait: ${(error as Error).message}`),
    );
  }

  @Interval(TURN_MS)
  tick(): void {
    if (this.active) this.work.wake();
  }

  /** One chunk for each endpoint that is being recovered, of the oldest of its recoveries. */
  async turn(): Promise<void> {
    const open = await this.table.oldestOfEndpoints(this.after, ENDPOINTS_PER_TURN);
    this.after = open.length < ENDPOINTS_PER_TURN ? null : open.at(-1)!.endpoint_id;
    for (const { recovery_id } of open) {
      if (this.stopping) return;
      const endpointId = await this.table.takeChunk(recovery_id);
      if (endpointId !== null) this.lanes.wake(endpointId);
    }
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    await this.work.stop();
  }
}
