import { Inject, Injectable } from '@nestjs/common';
import { Background } from '../../../../platform/jobs/background-work.js';
import { DueWork, type WorkOutcome } from '../../../../platform/jobs/due-work.js';
import { WorkItems } from '../../../../platform/jobs/work-items.js';
import { RECOVERY, RecoveryTable } from '../../store/recoveries.js';
import { Lanes } from './lanes.js';

/** Between two chunks of an endpoint. */
const CHUNK_MS = 1000;

/**
 * Carries out recoveries in chunks, each in a transaction that stores its position: after a crash another process
 * continues from there. Only what had ended when the recovery was accepted is sent again: what is exhausted again
 * stays so, and every delivery is checked once.
 */
@Injectable()
export class Recoveries {
  @Background()
  readonly work: DueWork;

  constructor(
    items: WorkItems,
    private readonly table: RecoveryTable,
    @Inject(Lanes) private readonly lanes: Pick<Lanes, 'wake'>,
  ) {
    this.work = new DueWork(items, {
      kind: RECOVERY,
      everyMs: CHUNK_MS,
      batch: 2,
      leaseMs: 60_000,
      retry: { firstMs: CHUNK_MS, maxMs: 60_000 },
      perform: ({ key }) => this.recover(key),
    });
  }

  private async recover(endpointId: string): Promise<WorkOutcome> {
    const count = await this.table.recoverChunk(endpointId);
    if (count === null) return 'done';
    if (count > 0) this.lanes.wake(endpointId);
    return { inMs: CHUNK_MS };
  }
}
