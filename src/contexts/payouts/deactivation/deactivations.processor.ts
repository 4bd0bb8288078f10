import { Inject, Injectable, Logger } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { DomainError } from '../../../kernel/domain-error.js';
import { fence } from '../../../platform/event-store/claims.js';
import { EVENT_STORE, type EventStore } from '../../../platform/event-store/port.js';
import { Periodic } from '../../../platform/jobs/background-work.js';
import { CompleteDeactivation } from '../../users/users.contract.js';
import { PAYOUT_CATEGORY } from '../payouts/payout-events.js';
import { Deactivations } from './deactivations.store.js';

const SWEEP_MS = 2000;
const BATCH = 100;

/**
 * Completes the deactivation of users without a pending payout in the read model. A report checks the
 * revision of the user's stream, so no payout is added after the start of a deactivation. On a store without
 * atomic commits, a payout announced before the start may follow until its stream is fenced.
 */
@Injectable()
export class DeactivationsProcessor {
  private readonly logger = new Logger(DeactivationsProcessor.name);

  constructor(
    private readonly deactivations: Deactivations,
    private readonly commandBus: CommandBus,
    @Inject(EVENT_STORE) private readonly store: EventStore,
  ) {}

  @Periodic({ name: 'deactivations', everyMs: SWEEP_MS })
  async completeAll(): Promise<void> {
    let users: readonly string[];
    let after: string | null = null;
    do {
      users = await this.deactivations.settled(BATCH, after);
      // Two processes may complete the same user, but the decision is written once.
      for (const userId of users)
        await this.complete(userId).catch((error: unknown) => {
          // A payout that was reported but not counted yet is an ordinary delay.
          const level = error instanceof DomainError ? 'debug' : 'warn';
          this.logger[level]({ msg: 'deactivation waiting', user_id: userId, err: error });
        });
      after = users.at(-1) ?? null;
    } while (users.length === BATCH);
  }

  async complete(userId: string): Promise<void> {
    // The read model is read before the user, whose state then includes the start of the deactivation.
    const counted = await this.deactivations.find(userId);
    const isCounted = counted !== null && (counted.pending > 0 || (await this.giveUp(counted.intended)));
    await this.commandBus.execute(new CompleteDeactivation(userId, isCounted ? counted.pending : null));
  }

  /** Fences announced payouts, so that no report can follow (ADR 103); false if a report came first. */
  private async giveUp(intended: readonly string[]): Promise<boolean> {
    for (const payoutId of intended) {
      const stream = `${PAYOUT_CATEGORY}-${payoutId}`;
      if (!(await fence(this.store, stream, { actor: 'payouts.deactivation' }))) return false;
    }
    return true;
  }
}
