import { Injectable } from '@nestjs/common';
import { BackgroundWork } from '../../../platform/background/background-work.js';
import { oldestOnboarding, onboardings } from '../metrics.js';
import { Progress } from '../views/progress.js';

const EVERY_MS = 15_000;

/** Keeps the metrics of onboardings that are not over. */
@Injectable()
export class ProgressGauge {
  readonly work = new BackgroundWork({
    name: 'gauge of onboardings',
    everyMs: EVERY_MS,
    run: () => this.measure(),
  });

  constructor(private readonly progress: Progress) {}

  private async measure(): Promise<void> {
    const counts = await this.progress.counts();
    // A stage that nobody is at any more must not keep its last number.
    onboardings.reset();
    oldestOnboarding.reset();
    for (const { stage, count, oldest_seconds } of counts) {
      onboardings.set({ stage }, count);
      oldestOnboarding.set({ stage }, oldest_seconds);
    }
  }
}
