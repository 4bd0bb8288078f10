import { PayeeCache } from './payee-cache.js';
import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { chainConfig, type ChainConfig } from '../../../platform/config/config.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { PreconditionFailed } from '../../../platform/event-store/command-loop-types.js';
import type { EventMetadata, StreamAppend } from '../../../platform/event-store/port.js';
import { streamOf } from '../../../kernel/aggregate.js';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { newId } from '../../../kernel/ids.js';
import { withIdempotencyKey, type IdempotencyTicket } from '../../../platform/idempotency/ticket.js';
import { payee } from '../../users/contract.js';
import { PAYOUT_INTENDED, type PayoutFacts } from '../domain/payout-events.js';
import { payout, report, type Report } from '../domain/payout.js';
import { responseTo } from '../domain/payout-json.js';
import { payoutsConfig, type PayoutsConfig } from '../settings.js';

/** How often a report is decided again because the user changed in between. */
const MAX_ATTEMPTS = 5;

/** Gives the JSON text of the 201. Throws DomainError `not_found` for users of others, `invalid_transition` for users who are being deactivated. */
export class ReportPayout extends Command<string> {
  constructor(
    readonly report: Report,
    readonly ticket: IdempotencyTicket,
    readonly cause: EventMetadata,
  ) {
    super();
  }
}

/** The hot path: one commit and no read, as long as the user is in memory and unchanged. */
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
    const userId = reported.user_id.toLowerCase();
    const now = this.clock.now();
    const at = now.toISOString();
    const expiresAt = new Date(
      now.getTime() + this.config.payoutVerificationWindowSeconds * 1000,
    ).toISOString();
    return withIdempotencyKey(ticket, 'payout', async (payoutId) => {
      const facts: PayoutFacts = {
        payout_id: payoutId,
        ...reported,
        user_id: userId,
        currency_code: 'USDC',
        chain_id: this.chainSettings.chainId,
      };
      // Lets a deactivation that begins meanwhile know of the payout (ADR 103).
      const announcement = (): Pick<StreamAppend, 'stream' | 'events'> => ({
        stream: `payout_intent-${payoutId}`,
        events: [
          {
            id: newId(),
            type: PAYOUT_INTENDED,
            data: { payout_id: payoutId, user_id: userId },
            metadata: cause,
          },
        ],
      });
      for (let attempt = 1; ; attempt += 1) {
        const { state: user, revision } = await this.payees.get(userId, { fresh: attempt > 1 });
        try {
          const { state } = await this.loop.execute(
            payout,
            payoutId,
            (current) => report({ facts, at, expiresAt }, user, current),
            {
              metadata: cause,
              preconditions:
                revision === null
                  ? []
                  : [{ stream: streamOf(payee, userId), events: [], expected: revision }],
              announcement,
              expectNew: true,
              response: (after) => ticket.response(201, responseTo(after)),
            },
          );
          return responseTo(state);
        } catch (error) {
          if (!(error instanceof PreconditionFailed) || attempt === MAX_ATTEMPTS) throw error;
        }
      }
    });
  }
}
