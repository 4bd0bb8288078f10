import { Injectable, Logger } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { DomainError } from '../../../kernel/domain-error.js';
import { BackgroundWork } from '../../../platform/background/background-work.js';
import { Deactivations } from '../store/deactivations.js';
import { SettleDeactivation } from './settle-deactivation.js';

const SWEEP_MS = 2000;
const BATCH = 100;

/** Completes the deactivation of every user whose last pending payout has come to its end. */
@Injectable()
export class DeactivationWorker {
  private readonly logger = new Logger(DeactivationWorker.name);
  readonly work = new BackgroundWork({
    name: 'deactivations',
    everyMs: SWEEP_MS,
    run: () => this.completeAll(),
  });

  constructor(
    private readonly deactivations: Deactivations,
    private readonly commandBus: CommandBus,
  ) {}

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
      this.logger.debug({ msg: 'a deactivation has to wait', user_id: userId, error });
    }
  }
}
