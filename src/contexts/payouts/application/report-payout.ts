import { PayeeCache } from './payee-cache.js';
import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { chainConfig, type ChainConfig } from '../../../platform/config/config.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { Loaded } from '../../../platform/event-store/command-loop-types.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { toStream } from '../../../kernel/aggregate.js';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { newId } from '../../../kernel/ids.js';
import type { IdempotencyTicket } from '../../../platform/idempotency/ticket.js';
import { payee, type Payee } from '../../users/contract.js';
import { PAYOUT_INTENDED, type PayoutFacts } from '../domain/payout-events.js';
import { payout, report, type Report, responseTo } from '../domain/payout.js';
import { payoutsConfig, type PayoutsConfig } from '../settings.js';

/**
 * Reports a payout and returns the JSON text of the response. Throws `not_found` for users of other merchants and
 * `invalid_transition` for users in deactivation.
 */
export class ReportPayout extends Command<string> {
  constructor(
    readonly report: Report,
    readonly ticket: IdempotencyTicket,
    readonly cause: EventMetadata,
  ) {
    super();
  }
}

/** The hot path: one commit and no read, as long as the user is cached and unchanged. */
@CommandHandler(ReportPayout)
export class ReportPayoutHandler implements ICommandHandler<ReportPayout> {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(payoutsConfig.KEY) private readonly config: PayoutsConfig,
    @Inject(chainConfig.KEY) private readonly chainSettings: ChainConfig,
    private readonly payees: PayeeCache,
  ) {}

  async execute({ report: reported, ticket, cause }: ReportPayout): Promise<string> {
    const payoutId = ticket.id('payout');
    const userId = reported.user_id.toLowerCase();
    const now = this.clock.now();
    const expiresAt = new Date(now.getTime() + this.config.payoutVerificationWindowSeconds * 1000);
    const facts: PayoutFacts = {
      payout_id: payoutId,
      ...reported,
      user_id: userId,
      currency_code: 'USDC',
      chain_id: this.chainSettings.chainId,
    };
    const command = { facts, at: now.toISOString(), expiresAt: expiresAt.toISOString() };
    let user: Loaded<Payee>;
    const { body } = await this.loop.execute(
      payout,
      payoutId,
      (current) => report(command, user.state, current),
      {
        metadata: cause,
        preconditions: async (attempt) => {
          user = await this.payees.get(userId, { fresh: attempt > 0 });
          const { revision } = user;
          return revision === null
            ? []
            : [{ stream: toStream(payee, userId), events: [], expected: revision }];
        },
        // Announces the payout to a concurrent deactivation (ADR 103).
        announcement: () => {
          const data = { payout_id: payoutId, user_id: userId };
          const event = { id: newId(), type: PAYOUT_INTENDED, data, metadata: cause };
          return { stream: `payout_intent-${payoutId}`, events: [event] };
        },
        expectNew: true,
        response: { ticket, status: 201, body: responseTo },
      },
    );
    return body;
  }
}
