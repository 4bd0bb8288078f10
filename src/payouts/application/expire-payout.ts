import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { COMMAND_LOOP, type CommandLoop } from '../../event-store/command-loop.js';
import { CLOCK, type Clock } from '../../kernel/clock.js';
import { expire, payout } from '../domain/payout.js';

/** The window of a payout passed and a last look at the chain did not confirm it. Says nothing before its end. */
export class ExpirePayout extends Command<'expired' | 'ended'> {
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

  async execute({ payoutId, reason }: ExpirePayout): Promise<'expired' | 'ended'> {
    const at = this.clock.now().toISOString();
    const { events } = await this.loop.execute(payout, payoutId, (state) => expire({ reason, at }, state));
    return events.length > 0 ? 'expired' : 'ended';
  }
}
