import { Inject, Injectable } from '@nestjs/common';
import { HOUR_MS } from '../../../kernel/clock.js';
import { Background, BackgroundWork } from '../../../platform/background/background-work.js';
import { Images } from '../store/images.js';
import { PhoneCodes } from '../store/phone-codes.js';
import { onboardingConfig, type OnboardingConfig } from '../settings.js';

/** Deletes images that were never handed over, and expired codes. */
@Injectable()
export class OnboardingRetention {
  @Background()
  readonly work = new BackgroundWork({
    name: 'retention of identity images and codes',
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
    @Inject(onboardingConfig.KEY) private readonly config: OnboardingConfig,
  ) {}
}
