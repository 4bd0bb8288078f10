import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { fence, isFence } from '../../../platform/event-store/claims.js';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import { comparePositions, EVENT_STORE, type EventStore } from '../../../platform/event-store/port.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { PAYOUT_CATEGORY } from '../../payouts/contract.js';
import { Database } from '../../../platform/postgres/database.js';
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

/** What the saga knows, as of one moment. */
interface Counted {
  readonly pending: number;
  /** Payouts that were intended before the start of the deactivation and are not reported; none on an atomic store. */
  readonly intended: readonly string[];
  /** Position of the user's last event that is counted. */
  readonly position: string;
}

@CommandHandler(CompleteDeactivation)
export class CompleteDeactivationHandler implements ICommandHandler<CompleteDeactivation> {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly database: Database,
    @Inject(EVENT_STORE) private readonly store: EventStore,
  ) {}

  async execute({ userId }: CompleteDeactivation): Promise<UserChanged> {
    // Counted before the state is loaded: a start that is counted is also in the state.
    const counted = await this.counted(userId);
    if (counted?.pending === 0) await this.giveUp(counted);
    const at = timestamp(this.clock);
    return this.loop.execute(user, userId, (state) => {
      if (counted === null && state.accountState === 'deactivating') throw notCounted();
      return completeDeactivation({ pendingPayouts: counted?.pending ?? 0, at }, state);
    });
  }

  /** Null until the saga has seen the start of the deactivation. */
  private async counted(userId: string): Promise<Counted | null> {
    const rows = await this.database.query<Counted & { pending_payouts: string }>(
      `select pending_payouts, position,
         array(select payout_id::text from users.payout_intents where user_id = $1) as intended
       from users.deactivations where user_id = $1 and deactivating`,
      [userId],
    );
    return rows[0] === undefined ? null : { ...rows[0], pending: Number(rows[0].pending_payouts) };
  }

  /** A fenced payout can never be reported, however late its append arrives (ADR 103); one that is there is to be counted first. */
  private async giveUp({ intended, position }: Counted): Promise<void> {
    for (const payoutId of intended) {
      const stream = `${PAYOUT_CATEGORY}-${payoutId}`;
      if (!(await fence(this.store, stream, {}))) {
        // A version without intents reported it, and its repeat brought the intent afterwards.
        const reported = (await this.store.readStream(stream)).find((event) => !isFence(event));
        if (reported === undefined || comparePositions(reported.position, position) > 0) throw notCounted();
      }
      await this.database.query('delete from users.payout_intents where payout_id = $1', [payoutId]);
    }
  }
}

function notCounted(): DomainError {
  return new DomainError('unavailable', 'The pending payouts of the user are still being counted; try again');
}
