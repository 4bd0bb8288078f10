import { Inject, Injectable } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { LRUCache } from 'lru-cache';
import { upTo } from '../../../platform/cache-size.js';
import { chainConfig, type ChainConfig } from '../../../platform/config/config.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { Loaded } from '../../../platform/event-store/command-loop-types.js';
import type { EventMetadata, StreamAppend } from '../../../platform/event-store/port.js';
import { toStream } from '../../../kernel/aggregate.js';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { isUuid, newId } from '../../../kernel/ids.js';
import type { IdempotencyTicket } from '../../../platform/idempotency/ticket.js';
import { payee, type Payee } from '../../users/users.contract.js';
import { PAYOUT_INTENDED, type PayoutReported } from './payout-events.js';
import { payout, report, type Report, responseTo } from './payout.js';
import { payoutsConfig, type PayoutsConfig } from '../payouts.config.js';

/** The limit of cached users, some 200 bytes each. */
const MAX_USERS = 50_000;

/** The cache of payees. A stale entry fails the revision check of the commit and is loaded again. */
@Injectable()
export class PayeeCache {
  private readonly known = new LRUCache<string, Loaded<Payee>>(upTo(MAX_USERS));

  constructor(private readonly loop: CommandLoop) {}

  async get(userId: string, { fresh = false } = {}): Promise<Loaded<Payee>> {
    const known = this.known.get(userId);
    if (known !== undefined && !fresh) return known;
    if (!isUuid(userId)) return { state: payee.initial, revision: null, lastId: null };
    const loaded = await this.loop.load(payee, userId);
    // A missing user is not cached, because it may be created at any time.
    if (loaded.revision !== null) this.known.set(userId, loaded);
    return loaded;
  }

  /** Returns the user's wallet, or null if the user has none yet. A wallet never changes. */
  async findWallet(userId: string): Promise<string | null> {
    const walletIn = (state: Payee | undefined): string | null =>
      !state || state.accountState === 'unknown' ? null : state.issuerWalletAddress;
    const known = walletIn(this.known.get(userId)?.state);
    return known ?? walletIn((await this.get(userId, { fresh: true })).state);
  }
}

/** Reports a payout. Throws `not_found` for another merchant's user, `invalid_transition` in deactivation. */
export class ReportPayout extends Command<string> {
  constructor(
    readonly report: Report,
    readonly ticket: IdempotencyTicket,
    readonly cause: EventMetadata,
  ) {
    super();
  }
}

/** Handles reports, the hot path, with one commit and no read while the user is cached and unchanged. */
@CommandHandler(ReportPayout)
export class ReportPayoutHandler implements ICommandHandler<ReportPayout> {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(payoutsConfig.KEY) private readonly config: PayoutsConfig,
    @Inject(chainConfig.KEY) private readonly chainSettings: ChainConfig,
    private readonly payees: PayeeCache,
  ) {}

  async execute({ report: facts, ticket, cause }: ReportPayout): Promise<string> {
    const userId = facts.user_id.toLowerCase();
    let user: Loaded<Payee>;
    const preconditions = async (attempt: number): Promise<readonly StreamAppend[]> => {
      user = await this.payees.get(userId, { fresh: attempt > 0 });
      const { revision } = user;
      return revision === null ? [] : [{ stream: toStream(payee, userId), events: [], expected: revision }];
    };
    const payoutId = ticket.id('payout');
    const now = this.clock.now();
    const expiresAt = new Date(now.getTime() + this.config.payoutVerificationWindowSeconds * 1000);
    const reported: PayoutReported['data'] = {
      payout_id: payoutId,
      ...facts,
      user_id: userId,
      currency_code: 'USDC',
      chain_id: this.chainSettings.chainId,
      created_at: now.toISOString(),
      expires_at: expiresAt.toISOString(),
    };
    const { body } = await this.loop.execute(
      payout,
      payoutId,
      (current) => report(reported, user.state, current),
      {
        metadata: cause,
        preconditions,
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
