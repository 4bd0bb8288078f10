import { Injectable, Logger, Inject } from '@nestjs/common';
import { Command, CommandBus, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { DomainError } from '../../../kernel/domain-error.js';
import { Periodic } from '../../../platform/jobs/background-work.js';
import { Deactivations, type Deactivating } from '../store/deactivations.js';
import { fence } from '../../../platform/event-store/claims.js';
import { EVENT_STORE, type EventStore } from '../../../platform/event-store/port.js';
import { CompleteDeactivation } from '../../users/contract.js';
import { PAYOUT_CATEGORY } from '../domain/payout-events.js';

const SWEEP_MS = 2000;
const BATCH = 100;

/** Completes the deactivation of every user whose last pending payout has come to its end. */
@Injectable()
export class DeactivationWorker {
  private readonly logger = new Logger(DeactivationWorker.name);

  constructor(
    private readonly deactivations: Deactivations,
    private readonly commandBus: CommandBus,
  ) {}

  @Periodic({ name: 'deactivations', everyMs: SWEEP_MS })
  async completeAll(): Promise<void> {
    let users: readonly string[];
    let after: string | null = null;
    do {
      users = await this.deactivations.settled(BATCH, after);
      // Two processes may do the same at once: the decision is written once.
      for (const userId of users) await this.complete(userId);
      after = users.at(-1) ?? null;
    } while (users.length === BATCH);
  }

  /** Never rejects: a user that cannot be completed delays no other. */
  private async complete(userId: string): Promise<void> {
    try {
      await this.commandBus.execute(new SettleDeactivation(userId));
    } catch (error) {
      // A payout that is reported and not counted yet is ordinary: it puts the user off.
      const level = error instanceof DomainError ? 'debug' : 'warn';
      this.logger[level]({ msg: 'deactivation waiting', user_id: userId, err: error });
    }
  }
}

/** Deactivates a user who is being deactivated and has no pending payout. Throws as {@link CompleteDeactivation} does. */
export class SettleDeactivation extends Command<void> {
  constructor(readonly userId: string) {
    super();
  }
}

@CommandHandler(SettleDeactivation)
export class SettleDeactivationHandler implements ICommandHandler<SettleDeactivation> {
  constructor(
    private readonly commandBus: CommandBus,
    private readonly deactivations: Deactivations,
    @Inject(EVENT_STORE) private readonly store: EventStore,
  ) {}

  async execute({ userId }: SettleDeactivation): Promise<void> {
    // Counted before the user's state is loaded: a start that is counted is also in the state.
    const counted = await this.deactivations.find(userId);
    const known = counted !== null && (counted.pending > 0 || (await this.giveUpIntended(counted)));
    await this.commandBus.execute(new CompleteDeactivation(userId, known ? counted.pending : null));
  }

  /**
   * A fenced payout can never be reported, however late its append arrives (ADR 103). False when one is there that is
   * to be counted first.
   */
  private async giveUpIntended({ intended }: Deactivating): Promise<boolean> {
    for (const payoutId of intended) {
      const stream = `${PAYOUT_CATEGORY}-${payoutId}`;
      if (!(await fence(this.store, stream, { actor: 'payouts.deactivation' }))) return false;
    }
    return true;
  }
}
