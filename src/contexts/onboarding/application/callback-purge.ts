import { Inject, Injectable } from '@nestjs/common';
import { BackgroundWork } from '../../../platform/background/background-work.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { Callbacks } from '../store/callbacks.js';

const HOUR_MS = 3_600_000;

/** Forgets callbacks that would be refused by their age, should they come again. */
@Injectable()
export class CallbackPurge {
  readonly work = new BackgroundWork({
    name: 'purge of identity callbacks',
    everyMs: HOUR_MS,
    // Twice as long: clocks differ.
    run: () => this.callbacks.deleteOlderThan(2 * this.config.identityCallbackMaxAgeSeconds + HOUR_MS / 1000),
  });

  constructor(
    private readonly callbacks: Callbacks,
    @Inject(CONFIG) private readonly config: Pick<Config, 'identityCallbackMaxAgeSeconds'>,
  ) {}
}
