import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { pendingPayouts } from '../metrics.js';
import { Verifications } from '../store/verifications.js';

const EVERY_MS = 10_000;

/** Keeps the metric of payouts that wait for their transfer. */
@Injectable()
export class PendingGauge {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'roles'>,
    private readonly work: Verifications,
  ) {}

  @Interval(EVERY_MS)
  async measure(): Promise<void> {
    if (!this.config.roles.includes('worker')) return;
    try {
      pendingPayouts.set(await this.work.count());
    } catch {
      // A database that is away shows elsewhere; the gauge keeps its last value.
    }
  }
}
