import { Injectable } from '@nestjs/common';
import { BackgroundWork } from '../../../platform/background/background-work.js';
import { pendingPayouts } from '../metrics.js';
import { Verifications } from '../store/verifications.js';

const EVERY_MS = 10_000;

/** Keeps the metric of payouts that wait for their transfer. */
@Injectable()
export class PendingGauge {
  readonly work = new BackgroundWork({
    name: 'gauge of pending payouts',
    everyMs: EVERY_MS,
    run: async () => pendingPayouts.set(await this.verifications.count()),
  });

  constructor(private readonly verifications: Verifications) {}
}
