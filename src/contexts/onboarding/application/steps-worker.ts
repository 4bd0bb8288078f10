import { Injectable, Logger } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { backoffMs, type Backoff } from '../../../platform/background/backoff.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { BackgroundWork } from '../../../platform/background/background-work.js';
import { Steps, type Step } from '../store/steps.js';
import { AdvanceOnboarding } from './advance-onboarding.js';

const SWEEP_MS = 500;
/** How many onboardings go on at a time in one process. */
const BATCH = 16;
/** After this long without an outcome the work is taken up anew: the process that had it is dead. */
const LEASE_SECONDS = 60;
/** How often a verification under review is looked at, should the provider's callback not come. */
const REVIEW: Backoff = { firstMs: 1000, mostMs: 600_000 };
const RETRY: Backoff = { firstMs: 250, mostMs: 60_000 };

/** Carries out what the saga wrote down, in any number of processes; an unavailable provider is asked again later. */
@Injectable()
export class StepsWorker {
  private readonly logger = new Logger(StepsWorker.name);
  readonly work = new BackgroundWork({
    name: 'steps of onboardings',
    everyMs: SWEEP_MS,
    run: (signal) => this.drain(signal),
  });

  constructor(
    private readonly steps: Steps,
    private readonly commandBus: CommandBus,
  ) {}

  private async drain(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const batch = await this.steps.lease(BATCH, LEASE_SECONDS);
      await Promise.all(batch.map((step) => this.carryOut(step)));
      if (batch.length < BATCH) return;
    }
  }

  private async carryOut(step: Step): Promise<void> {
    try {
      const stage = await this.commandBus.execute(new AdvanceOnboarding(step.user_id));
      if (stage === 'kyc_submitted')
        return await this.steps.retryIn(step, backoffMs(REVIEW, step.attempts - 1));
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'invalid_transition')
        return this.putOff(step, error);
      // The user is being deactivated: there is nothing to go on to.
      this.logger.warn({ msg: 'onboarding ends', userId: step.user_id, reason: error.message });
    }
    await this.steps.done(step);
  }

  private async putOff(step: Step, error: unknown): Promise<void> {
    const delayMs = backoffMs(RETRY, step.attempts - 1);
    this.logger.warn({
      msg: 'onboarding step failed',
      userId: step.user_id,
      attempt: step.attempts,
      delayMs,
      error,
    });
    await this.steps.retryIn(step, delayMs);
  }
}
