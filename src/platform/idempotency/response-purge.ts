import { Inject, Injectable, Logger } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { CLOCK, type Clock } from '../../kernel/clock.js';
import { CONFIG, type Config } from '../config/config.js';
import { earlierNow } from '../postgres/clock-check.js';
import { Database } from '../postgres/database.js';
import { PostgresAnswerStore } from './response-store.js';

const HOUR_MS = 3_600_000;

/** Deletes expired answers once an hour, in processes with the role `worker`. */
@Injectable()
export class AnswerPurge {
  private readonly logger = new Logger(AnswerPurge.name);

  constructor(
    private readonly answers: PostgresAnswerStore,
    private readonly database: Database,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Pick<Config, 'roles'>,
  ) {}

  @Interval(HOUR_MS)
  async run(): Promise<void> {
    if (!this.config.roles.includes('worker')) return;
    try {
      await this.answers.purge(await earlierNow(this.database, this.clock));
    } catch (error) {
      this.logger.warn(`expired answers were not deleted: ${String(error)}`);
    }
  }
}
