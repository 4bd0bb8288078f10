import { Injectable } from '@nestjs/common';
import { Periodic } from '../../../platform/background/background-work.js';
import { overdueConfirmations, pendingApprovals } from '../metrics.js';
import { OperationsView } from '../views/operations.js';

const GAUGE_EVERY_MS = 10_000;

/** Counts what waits for second persons. */
@Injectable()
export class OperationGauge {
  constructor(private readonly operations: OperationsView) {}

  @Periodic({ name: 'gauge of operations', everyMs: GAUGE_EVERY_MS })
  async measure(): Promise<void> {
    const { pending, overdue } = await this.operations.counts();
    pendingApprovals.set(pending);
    overdueConfirmations.set(overdue);
  }
}
