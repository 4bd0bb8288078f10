import { Inject, Injectable, Logger } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { backoffMs, type Backoff } from '../../../platform/background/backoff.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { DueWork, type WorkOutcome } from '../../../platform/work/due-work.js';
import { WorkItems, type WorkItem } from '../../../platform/work/work-items.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { AdvanceOnboarding } from './advance-onboarding.js';
import { GiveUp } from './give-up.js';
import { plainWords, whereFrom } from './provider-call.js';

/** Work of `work.items`: an onboarding that waits for the service, by the id of the user. */
export const STEP = 'onboarding.step';

/** How often the verification was found under review since the step was scheduled. */
interface State {
  readonly polls?: number;
}
type Step = WorkItem<State>;

/** How often a verification under review is polled, should the provider's callback not come. */
const REVIEW: Backoff = { firstMs: 1000, mostMs: 3_600_000 };
const RETRY: Backoff = { firstMs: 250, mostMs: 300_000 };
/** The user is being deactivated, or is erased: there is nothing to go on to. */
const ENDS: readonly DomainError['code'][] = ['invalid_transition', 'not_found'];

/**
 * Performs what the saga scheduled. A provider that gives nothing is requested again later, for as long as
 * ONBOARDING_GIVE_UP_SECONDS say; without a provider a step waits for one; a verification under review is polled for as
 * long as it is open. The log reports a failure once, until it is another one or over.
 */
@Injectable()
export class StepsWorker {
  private readonly logger = new Logger(StepsWorker.name);
  readonly work: DueWork<State>;

  constructor(
    items: WorkItems,
    private readonly commandBus: CommandBus,
    @Inject(CONFIG) private readonly config: Pick<Config, 'onboardingGiveUpSeconds'>,
  ) {
    this.work = new DueWork(items, {
      kind: STEP,
      everyMs: 500,
      batch: 16,
      leaseMs: 60_000,
      retry: RETRY,
      perform: (step) => this.advance(step),
    });
  }

  private async advance(step: Step): Promise<WorkOutcome> {
    const { polls = 0 } = step.state;
    try {
      const stage = await this.commandBus.execute(new AdvanceOnboarding(step.key));
      if (step.failures > 0)
        this.logger.log({ msg: 'an onboarding goes on after failed attempts', ...fieldsOf(step), stage });
      if (stage === 'kyc_submitted') return { inMs: backoffMs(REVIEW, polls), state: { polls: polls + 1 } };
    } catch (error) {
      if (!(error instanceof DomainError) || !ENDS.includes(error.code)) return this.failed(step, error);
      this.logger.warn({ msg: 'an onboarding ends', user_id: step.key, reason: error.message });
    }
    return 'done';
  }

  private async failed(step: Step, error: unknown): Promise<WorkOutcome> {
    const why = plainWords(error);
    // Our own refusal blames no provider: none is configured, and the step goes on once one is.
    const isProviders = !(error instanceof DomainError);
    if (isProviders && step.failing_seconds >= this.config.onboardingGiveUpSeconds) {
      const stage = await this.commandBus.execute(new GiveUp(step.key));
      if (stage === 'kyc_failed' || stage === 'card_failed') {
        this.logger.error({ msg: 'an onboarding has failed: attempts end', ...fieldsOf(step), stage, why });
        return 'done';
      }
      return this.retry(step, error, `${why}; for longer than attempts should take`, 'error');
    }
    return this.retry(step, error, why, 'warn');
  }

  private retry(step: Step, error: unknown, why: string, level: 'warn' | 'error'): WorkOutcome {
    if (why !== step.cause) {
      const msg = 'an onboarding waits: an attempt failed, and is repeated';
      this.logger[level]({ msg, ...fieldsOf(step), why, at: whereFrom(error) });
    }
    return { inMs: backoffMs(RETRY, step.failures), failure: { cause: why } };
  }
}

function fieldsOf({ key, failures, failing_seconds }: Step): object {
  return { user_id: key, failed_attempts: failures, failing_seconds: Math.round(failing_seconds) };
}
