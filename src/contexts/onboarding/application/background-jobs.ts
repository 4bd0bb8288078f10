import { Inject, Injectable } from '@nestjs/common';
import { HOUR_MS } from '../../../kernel/clock.js';
import { Background, BackgroundWork } from '../../../platform/background/background-work.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { Images } from '../store/images.js';
import { PhoneCodes } from '../store/phone-codes.js';
import { oldestOnboarding, onboardings } from '../metrics.js';
import { Progress } from '../views/progress.js';

/** Deletes images that were never handed over, and expired codes. */
@Injectable()
export class OldRows {
  @Background()
  readonly work = new BackgroundWork({
    name: 'purge of identity images and codes',
    everyMs: HOUR_MS,
    run: async () => {
      const purges = await Promise.allSettled([
        this.images.deleteOlderThan(this.config.onboardingImageDays),
        this.codes.deleteOld(),
      ]);
      for (const purge of purges) if (purge.status === 'rejected') throw purge.reason;
    },
  });

  constructor(
    private readonly images: Images,
    private readonly codes: PhoneCodes,
    @Inject(CONFIG) private readonly config: Pick<Config, 'onboardingImageDays'>,
  ) {}
}

const EVERY_MS = 15_000;

@Injectable()
export class ProgressGauge {
  @Background()
  readonly work = new BackgroundWork({
    name: 'count of onboardings',
    everyMs: EVERY_MS,
    run: () => this.measure(),
  });

  constructor(private readonly progress: Progress) {}

  private async measure(): Promise<void> {
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
