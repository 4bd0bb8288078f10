import { Inject, Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { Interval } from '@nestjs/schedule';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { Wakeable } from '../../../platform/background/wakeable.js';
import { Deactivations } from '../store/deactivations.js';
import { SettleDeactivation } from './settle-deactivation.js';

const SWEEP_MS = 2000;
const BATCH = 100;

/** Completes the deactivation of every user whose last pending payout has come to its end. */
@Injectable()
export class DeactivationWorker implements BeforeApplicationShutdown {
  private readonly logger = new Logger(DeactivationWorker.name);
  private readonly work = new Wakeable(
    () => this.completeAll(),
    (error) => this.logger.warn({ msg: 'deactivations are put off', error }),
  );

  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'roles'>,
    private readonly deactivations: Deactivations,
    private readonly commandBus: CommandBus,
  ) {}

  @Interval(SWEEP_MS)
  wake(): void {
    if (this.config.roles.includes('worker')) this.work.wake();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.work.stop();
  }

  private async completeAll(): Promise<void> {
    // Two processes may do the same at once: the decision is taken once all the same.
    for (const userId of await this.deactivations.settled(BATCH)) await this.complete(userId);
  }

  /** A payout that is reported but not counted yet puts one user off, not the others. */
  private async complete(userId: string): Promise<void> {
    try {
      await this.commandBus.execute(new SettleDeactivation(userId));
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      this.logger.debug({ msg: 'a deactivation is put off', user_id: userId, error });
    }
  }
}
