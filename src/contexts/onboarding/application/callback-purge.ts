import { Inject, Injectable } from '@nestjs/common';
import { BackgroundWork } from '../../../platform/background/background-work.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { Callbacks } from '../store/callbacks.js';
import { PhoneCodes } from '../store/phone-codes.js';

const HOUR_MS = 3_600_000;

/** Forgets callbacks that would be refused by their age, should they come again, and codes that count no more. */
@Injectable()
export class CallbackPurge {
  readonly work = new BackgroundWork({
    name: 'purge of identity callbacks and codes',
    everyMs: HOUR_MS,
    run: async () => {
      // Twice as long: clocks differ.
      await this.callbacks.deleteOlderThan(2 * this.config.identityCallbackMaxAgeSeconds + HOUR_MS / 1000);
      await this.codes.deleteOld();
    },
  });

  constructor(
    private readonly callbacks: Callbacks,
    private readonly codes: PhoneCodes,
    @Inject(CONFIG) private readonly config: Pick<Config, 'identityCallbackMaxAgeSeconds'>,
  ) {}
}
