import { Inject, Injectable, Logger } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { backoffMs, type Backoff } from '../../../platform/background/backoff.js';
import { BackgroundWork } from '../../../platform/background/background-work.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { Steps, type Step } from '../store/steps.js';
import { AdvanceOnboarding } from './advance-onboarding.js';
import { GiveUp } from './give-up.js';
import { plainWords, whereFrom } from './provider-call.js';

const SWEEP_MS = 500;
/** How many onboardings go on at a time in one process. */
const BATCH = 16;
/** After this long without an outcome the work is taken up anew: the process that had it is dead. */
const LEASE_SECONDS = 60;
/** How often a verification under review is looked at, should the provider's callback not come. */
const REVIEW: Backoff = { firstMs: 1000, mostMs: 3_600_000 };
const RETRY: Backoff = { firstMs: 250, mostMs: 300_000 };
/** The user is being deactivated, or is erased: there is nothing to go on to. */
const ENDS: readonly DomainError['code'][] = ['invalid_transition', 'not_found'];

/**
 * Carries out what the saga wrote down, in any number of processes. A provider that gives nothing is asked again later,
 * for as long as ONBOARDING_GIVE_UP_SECONDS say; without a provider a step waits for one; a verification under review is looked at for as long as it is open.
 * The log tells of a failure once, until it is another one or over.
 */
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
    @Inject(CONFIG) private readonly config: Pick<Config, 'onboardingGiveUpSeconds'>,
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
      if (step.failures > 0)
        this.logger.log({ msg: 'an onboarding goes on after failed attempts', ...told(step), stage });
      if (stage === 'kyc_submitted') return await this.steps.lookIn(step, backoffMs(REVIEW, step.looks));
    } catch (error) {
      if (!(error instanceof DomainError) || !ENDS.includes(error.code)) return this.putOff(step, error);
      this.logger.warn({ msg: 'an onboarding ends', user_id: step.user_id, reason: error.message });
    }
    await this.steps.done(step);
  }

  private async putOff(step: Step, error: unknown): Promise<void> {
    const why = plainWords(error);
    // Our own refusal blames no provider: none is configured, and the step goes on once one is.
    const isProviders = !(error instanceof DomainError);
    if (isProviders && step.failing_seconds >= this.config.onboardingGiveUpSeconds) {
      const stage = await this.commandBus.execute(new GiveUp(step.user_id));
      if (stage === 'kyc_failed' || stage === 'card_failed') {
        this.logger.error({ msg: 'an onboarding has failed: attempts end', ...told(step), stage, why });
        return this.steps.done(step);
      }
      return this.retry(step, error, `${why}; for longer than attempts should take`, 'error');
    }
    await this.retry(step, error, why, 'warn');
  }

  private async retry(step: Step, error: unknown, why: string, level: 'warn' | 'error'): Promise<void> {
    if (why !== step.last_error) {
      const msg = 'an onboarding waits: an attempt failed, and is repeated';
      this.logger[level]({ msg, ...told(step), why, at: whereFrom(error) });
    }
    await this.steps.retryIn(step, backoffMs(RETRY, step.failures), why);
  }
}

function told({ user_id, failures, failing_seconds }: Step): object {
  return { user_id, failed_attempts: failures, failing_seconds: Math.round(failing_seconds) };
}
