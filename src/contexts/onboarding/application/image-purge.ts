import { Inject, Injectable } from '@nestjs/common';
import { BackgroundWork } from '../../../platform/background/background-work.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { Images } from '../store/images.js';

const HOUR_MS = 3_600_000;

/** Deletes images that were never handed over, once they are ONBOARDING_IMAGE_DAYS old. */
@Injectable()
export class ImagePurge {
  readonly work = new BackgroundWork({
    name: 'purge of identity images',
    everyMs: HOUR_MS,
    run: () => this.images.deleteOlderThan(this.config.onboardingImageDays),
  });

  constructor(
    private readonly images: Images,
    @Inject(CONFIG) private readonly config: Pick<Config, 'onboardingImageDays'>,
  ) {}
}
