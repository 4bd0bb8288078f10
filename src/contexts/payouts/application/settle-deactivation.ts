import { Inject } from '@nestjs/common';
import { Command, CommandBus, type ICommandHandler } from '@nestjs/cqrs';
import { CommandHandler } from '../../../platform/commands.js';
import { fence } from '../../../platform/event-store/claims.js';
import { EVENT_STORE, type EventStore } from '../../../platform/event-store/port.js';
import { CompleteDeactivation, type UserChanged } from '../../users/contract.js';
import { PAYOUT_CATEGORY } from '../contract.js';
import { Deactivations, type Leaving } from '../store/deactivations.js';

/** Deactivates a user who is being deactivated and has no pending payout. Throws as {@link CompleteDeactivation} does. */
export class SettleDeactivation extends Command<UserChanged> {
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

  async execute({ userId }: SettleDeactivation): Promise<UserChanged> {
    // Counted before the user's state is loaded: a start that is counted is also in the state.
    const leaving = await this.deactivations.leaving(userId);
    const known = leaving !== null && (leaving.pending > 0 || (await this.giveUpIntended(leaving)));
    return this.commandBus.execute(new CompleteDeactivation(userId, known ? leaving.pending : null));
  }

  /**
   * A fenced payout can never be reported, however late its append arrives (ADR 103). False when one is there that is
   * to be counted first.
   */
  private async giveUpIntended({ intended }: Leaving): Promise<boolean> {
    for (const payoutId of intended) {
      const stream = `${PAYOUT_CATEGORY}-${payoutId}`;
      if (!(await fence(this.store, stream, { actor: 'users.deactivation' }))) return false;
      await this.deactivations.dropIntent(payoutId);
    }
    return true;
  }
}
