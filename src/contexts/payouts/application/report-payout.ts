import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import {
  COMMAND_LOOP,
  PreconditionFailed,
  type CommandLoop,
} from '../../../platform/event-store/command-loop.js';
import type { EventMetadata, StreamAppend } from '../../../platform/event-store/port.js';
import { streamOf } from '../../../kernel/aggregate.js';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { isUuid, newId } from '../../../kernel/ids.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { underKey, type IdempotencyTicket } from '../../../platform/idempotency/ticket.js';
import { payee } from '../../users/contract.js';
import { PAYOUT_INTENDED, type PayoutIntent } from '../contract.js';
import { payoutJson } from '../domain/payout-json.js';
import { payout, report, type PayoutState, type ReportDecision } from '../domain/payout.js';
import { PayeeCache } from './payee-cache.js';

/** How often a report is decided again because the user changed in between. */
const MAX_ATTEMPTS = 5;

interface PayoutFields {
  readonly merchantId: string;
  readonly userId: string;
  readonly amount: string;
  readonly transactionHash: string;
  readonly customMetadata: string;
}

/** Gives the JSON text of the 201. Throws DomainError `not_found` for users of others, `invalid_transition` for users who are being deactivated. */
export class ReportPayout extends Command<string> {
  constructor(
    readonly report: PayoutFields,
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
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Pick<Config, 'chainId' | 'payoutVerificationWindowSeconds'>,
    private readonly payees: PayeeCache,
  ) {}

  async execute(command: ReportPayout): Promise<string> {
    if (!isUuid(command.report.userId)) throw DomainError.notFound('User');
    const userId = command.report.userId.toLowerCase();
    return underKey(command.ticket, 'payout', (id) =>
      this.executeWithRetry(command, userId, this.decisionOf(command, userId, id)),
    );
  }

  private async executeWithRetry(
    command: ReportPayout,
    userId: string,
    decision: ReportDecision,
  ): Promise<string> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.attempt(command, userId, decision);
      } catch (error) {
        if (!(error instanceof PreconditionFailed) || attempt === MAX_ATTEMPTS) throw error;
        this.payees.forget(userId);
      }
    }
  }

  private async attempt(
    { cause, ticket }: ReportPayout,
    userId: string,
    decision: ReportDecision,
  ): Promise<string> {
    const loaded = await this.payees.get(userId);
    const preconditions: StreamAppend[] = [];
    if (loaded.revision !== null) {
      preconditions.push({ stream: streamOf(payee, userId), events: [], expected: loaded.revision });
    }
    const { state } = await this.loop.execute(
      payout,
      decision.facts.payout_id,
      (current) => report(decision, loaded.state, current),
      {
        metadata: cause,
        preconditions,
        announcement: () => intentOf(decision.facts, cause),
        expectNew: true,
        response: (after) => ticket.response(201, responseOf(after)),
      },
    );
    return responseOf(state);
  }

  private decisionOf({ report: reported }: ReportPayout, userId: string, payoutId: string): ReportDecision {
    const now = this.clock.now();
    return {
      facts: {
        payout_id: payoutId,
        merchant_id: reported.merchantId,
        user_id: userId,
        amount: reported.amount,
        currency_code: 'USDC',
        transaction_hash: reported.transactionHash,
        custom_metadata: reported.customMetadata,
        chain_id: this.config.chainId,
      },
      at: now.toISOString(),
      expiresAt: new Date(now.getTime() + this.config.payoutVerificationWindowSeconds * 1000).toISOString(),
    };
  }
}

/** Lets a deactivation that begins meanwhile know of the payout (ADR 103). */
function intentOf(
  { payout_id, user_id }: PayoutIntent,
  metadata: EventMetadata,
): Pick<StreamAppend, 'stream' | 'events'> {
  const event = { id: newId(), type: PAYOUT_INTENDED, data: { payout_id, user_id }, metadata };
  return { stream: `payout_intent-${payout_id}`, events: [event] };
}

/** The response to the report, also for a repeat that comes when the payout has its outcome. */
function responseOf(state: PayoutState): string {
  if (state.status === 'unreported') throw new Error('a reported payout has facts');
  return `{"payout":${payoutJson(state.facts, 'pending', null, state.createdAt)}}`;
}
