import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CommandHandler } from '../../../platform/commands.js';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { expire, payout } from '../domain/payout.js';

/** `ended`: the payout had its outcome already. `early`: its window is not over yet. */
export type Expiry = 'expired' | 'ended' | 'early';

/** The window of a payout passed and a last look at the chain did not confirm it. */
export class ExpirePayout extends Command<Expiry> {
  constructor(
    readonly payoutId: string,
    readonly reason: string,
  ) {
    super();
  }
}

@CommandHandler(ExpirePayout)
export class ExpirePayoutHandler implements ICommandHandler<ExpirePayout> {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ payoutId, reason }: ExpirePayout): Promise<Expiry> {
    const at = timestamp(this.clock);
    const { events, state } = await this.loop.execute(
      payout,
      payoutId,
      (state) => expire({ reason, at }, state),
      { metadata: { actor: 'payouts.verification' }, follows: true },
    );
    if (events.length > 0) return 'expired';
    return state.status === 'pending' ? 'early' : 'ended';
  }
}
