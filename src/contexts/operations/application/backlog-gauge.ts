import { Inject, Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { Background, BackgroundWork } from '../../../platform/background/background-work.js';
import { registers } from '../../../platform/telemetry/metrics.js';
import { OperationsView } from '../views/operations.js';
import { SystemStatus } from './system-status.js';

const EVERY_MS = 10_000;

const pendingApprovals = new Gauge({
  name: 'disburse_operations_pending_approval',
  help: 'Operations of operators that wait for the approval of a second person.',
  registers,
});

const dueWork = new Gauge({
  name: 'disburse_due_work',
  help: 'Work that is due and that no process performs, by kind of work; webhooks.deliveries are deliveries. Of processes with the role worker. Exact up to 10,000.',
  labelNames: ['work'] as const,
  registers,
});

const dueWorkAge = new Gauge({
  name: 'disburse_due_work_oldest_seconds',
  help: 'How long the oldest of this work has been due, by kind of work; 0 where nothing is.',
  labelNames: ['work'] as const,
  registers,
});

const overdueConfirmations = new Gauge({
  name: 'disburse_operations_unconfirmed_overdue',
  help: 'Operations that were executed at once and have not been confirmed by a second person within 24 hours.',
  registers,
});

/** Measures what is due and not done, by workers and by second persons, in each worker: where none runs, it is missing. */
@Injectable()
export class BacklogGauge {
  @Background()
  readonly work = new BackgroundWork({
    name: 'gauge of due work',
    everyMs: EVERY_MS,
    run: () => this.measure(),
  });

  constructor(
    private readonly system: SystemStatus,
    private readonly operations: OperationsView,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  private async measure(): Promise<void> {
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
    const { pending, overdue } = await this.operations.counts();
    pendingApprovals.set(pending);
    overdueConfirmations.set(overdue);
  }
}
