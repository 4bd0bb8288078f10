import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { COMMAND_LOOP, type CommandLoop } from '../../event-store/command-loop.js';
import { CLOCK, type Clock } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/domain-error.js';
import { Database } from '../../platform/database/database.js';
import { completeDeactivation, user } from '../domain/user.js';
import type { UserChanged } from './user-changed.js';

/**
 * deactivating to deactivated, once no payout of the user is pending.
 * Throws `not_found`, `invalid_transition`, or `unavailable` while the pending payouts are not counted yet.
 */
export class CompleteDeactivation extends Command<UserChanged> {
  constructor(readonly userId: string) {
    super();
  }
}

@CommandHandler(CompleteDeactivation)
export class CompleteDeactivationHandler implements ICommandHandler<CompleteDeactivation> {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly database: Database,
  ) {}

  async execute({ userId }: CompleteDeactivation): Promise<UserChanged> {
    // Counted before the state is loaded: a start that is counted is also in the state.
    const pendingPayouts = await this.pendingPayouts(userId);
    const at = this.clock.now().toISOString();
    return this.loop.execute(user, userId, (state) => {
      if (pendingPayouts === null && state.accountState === 'deactivating') {
        throw new DomainError(
          'unavailable',
          'The pending payouts of the user are still being counted; try again',
        );
      }
      return completeDeactivation({ pendingPayouts: pendingPayouts ?? 0, at }, state);
    });
  }

  /** Null until the saga has seen the start of the deactivation. */
  private async pendingPayouts(userId: string): Promise<number | null> {
    const rows = await this.database.query<{ pending_payouts: string }>(
      'select pending_payouts from users.deactivations where user_id = $1 and deactivating',
      [userId],
    );
    return rows[0] === undefined ? null : Number(rows[0].pending_payouts);
  }
}
