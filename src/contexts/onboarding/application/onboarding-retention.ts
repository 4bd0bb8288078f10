import { Inject, Injectable } from '@nestjs/common';
import { HOUR_MS } from '../../../kernel/clock.js';
import { Periodic } from '../../../platform/jobs/background-work.js';
import { Images } from '../store/images.js';
import { PhoneCodes } from '../store/phone-codes.js';
import { onboardingConfig, type OnboardingConfig } from '../settings.js';

/** Deletes images that were never handed over, and expired codes. */
@Injectable()
export class OnboardingRetention {
  constructor(
    private readonly images: Images,
    private readonly codes: PhoneCodes,
    @Inject(onboardingConfig.KEY) private readonly config: OnboardingConfig,
  ) {}

  @Periodic({ name: 'retention of identity images and codes', everyMs: HOUR_MS })
  async purge(): Promise<void> {
    const purges = await Promise.allSettled([
      this.images.deleteOlderThan(this.config.onboardingImageDays),
      this.codes.deleteOld(),
    ]);
    for (const purge of purges) if (purge.status === 'rejected') throw purge.reason;
  }
}
