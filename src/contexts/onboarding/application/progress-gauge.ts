import { Injectable } from '@nestjs/common';
import { Periodic } from '../../../platform/jobs/background-work.js';
import { oldestOnboarding, onboardings } from '../metrics.js';
import { Progress } from '../views/progress.js';

const EVERY_MS = 15_000;

@Injectable()
export class ProgressGauge {
  constructor(private readonly progress: Progress) {}

  @Periodic({ name: 'count of onboardings', everyMs: EVERY_MS })
  async measure(): Promise<void> {
    const counts = await this.progress.counts();
    // An empty stage must not keep its last count.
    onboardings.reset();
    oldestOnboarding.reset();
    for (const { stage, count, oldest_seconds } of counts) {
      onboardings.set({ stage }, count);
      oldestOnboarding.set({ stage }, oldest_seconds);
    }
  }
}
