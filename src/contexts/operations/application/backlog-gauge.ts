import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { Periodic } from '../../../platform/background/background-work.js';
import { dueWork, dueWorkAge } from '../metrics.js';
import { SystemStatus } from './system-status.js';

const EVERY_MS = 10_000;

/** Measures what is due and not done, in each worker: where no worker runs, its metrics are missing. */
@Injectable()
export class BacklogGauge {
  constructor(
    private readonly system: SystemStatus,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Periodic({ name: 'gauge of due work', everyMs: EVERY_MS })
  async measure(): Promise<void> {
    const backlogs = await this.system.backlogs().finally(() => {
      // Neither a kind without any work nor one that could not be read keeps its last age.
      dueWork.reset();
      dueWorkAge.reset();
    });
    const now = this.clock.now().getTime();
    for (const { name: work, due, oldest_at: oldest } of backlogs) {
      dueWork.set({ work }, due);
      dueWorkAge.set({ work }, oldest === null ? 0 : Math.max(0, now - Date.parse(oldest)) / 1000);
    }
  }
}
