import { Inject, Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { Interval } from '@nestjs/schedule';
import { backoffMs, type Backoff } from '../../../platform/background/backoff.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { Database } from '../../../platform/postgres/database.js';
import { Wakeable } from '../../../platform/background/wakeable.js';
import { AdvanceOnboarding } from './advance-onboarding.js';

const SWEEP_MS = 500;
/** How many onboardings go on at a time in one process. */
const BATCH = 16;
/** After this long without an outcome the work is taken up anew: the process that had it is dead. */
const LEASE_SECONDS = 60;
const RETRY: Backoff = { firstMs: 250, mostMs: 60_000 };

interface Work {
  readonly user_id: string;
  /** Counts the requests for work: a row that was asked for again meanwhile stays. */
  readonly asked: string;
  readonly attempts: number;
}

/** Carries out what the saga wrote down, in any number of processes; a provider that is away is asked again later. */
@Injectable()
export class StepsWorker implements BeforeApplicationShutdown {
  private readonly logger = new Logger(StepsWorker.name);
  private readonly work = new Wakeable(
    () => this.drain(),
    (error) => this.logger.warn({ msg: 'onboardings are put off', error }),
  );

  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'roles'>,
    private readonly database: Database,
    private readonly commandBus: CommandBus,
  ) {}

  @Interval(SWEEP_MS)
  wake(): void {
    if (this.config.roles.includes('worker')) this.work.wake();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.work.stop();
  }

  private async drain(): Promise<void> {
    for (;;) {
      const batch = await this.lease();
      await Promise.all(batch.map((work) => this.carryOut(work)));
      if (batch.length < BATCH) return;
    }
  }

  private lease(): Promise<Work[]> {
    return this.database.query<Work & Record<string, unknown>>(
      `update onboarding.steps set due_at = now() + make_interval(secs => $2), attempts = attempts + 1
       where user_id in (select user_id from onboarding.steps where due_at <= now()
                         order by due_at limit $1 for update skip locked)
       returning user_id, asked, attempts`,
      [BATCH, LEASE_SECONDS],
    );
  }

  private async carryOut(work: Work): Promise<void> {
    try {
      await this.commandBus.execute(new AdvanceOnboarding(work.user_id));
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'invalid_transition')
        return this.putOff(work, error);
      // The user is being deactivated: there is nothing to go on to.
      this.logger.warn({ msg: 'onboarding ends', userId: work.user_id, reason: error.message });
    }
    await this.database.query('delete from onboarding.steps where user_id = $1 and asked = $2', [
      work.user_id,
      work.asked,
    ]);
  }

  private async putOff(work: Work, error: unknown): Promise<void> {
    const delayMs = backoffMs(RETRY, work.attempts - 1);
    this.logger.warn({
      msg: 'onboarding step failed',
      userId: work.user_id,
      attempt: work.attempts,
      delayMs,
      error,
    });
    await this.database.query(
      `update onboarding.steps set due_at = now() + make_interval(secs => $3) where user_id = $1 and asked = $2`,
      [work.user_id, work.asked, delayMs / 1000],
    );
  }
}
