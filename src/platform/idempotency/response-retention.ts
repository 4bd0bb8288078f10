import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock, HOUR_MS } from '../../kernel/clock.js';
import { Periodic } from '../jobs/background-work.js';
import { earlierNow } from '../postgres/clock-check.js';
import { Database } from '../postgres/database.js';
import { ResponseStore } from './response-store.js';

/** Deletes expired responses once an hour. */
@Injectable()
export class ResponseRetention {
  constructor(
    private readonly responses: ResponseStore,
    private readonly database: Database,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Periodic({ name: 'retention of stored responses', everyMs: HOUR_MS })
  async purge(signal?: AbortSignal): Promise<void> {
    await this.responses.purge(await earlierNow(this.database, this.clock), signal);
  }
}
