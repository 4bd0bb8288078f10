import { Inject, Injectable } from '@nestjs/common';
import { BackgroundWork } from '../../../../platform/background/background-work.js';
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
export class Recoveries {
  readonly work = new BackgroundWork({
    name: 'recoveries of webhook endpoints',
    everyMs: TURN_MS,
    run: (signal) => this.turn(signal),
  });

  /** The last endpoint that had its turn: however many wait for slow receivers, the others have theirs. */
  private after: string | null = null;

  constructor(
    private readonly table: RecoveryTable,
    @Inject(Lanes) private readonly lanes: Pick<Lanes, 'wake'>,
  ) {}

  /** One chunk for each endpoint that is being recovered, of the oldest of its recoveries. */
  async turn(signal?: AbortSignal): Promise<void> {
    const open = await this.table.oldestOfEndpoints(this.after, ENDPOINTS_PER_TURN);
    this.after = open.length < ENDPOINTS_PER_TURN ? null : open.at(-1)!.endpoint_id;
    for (const { recovery_id } of open) {
      if (signal?.aborted) return;
      const endpointId = await this.table.takeChunk(recovery_id);
      if (endpointId !== null) this.lanes.wake(endpointId);
    }
  }
}
