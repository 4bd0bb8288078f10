import { Inject, Injectable, Logger } from '@nestjs/common';
import { HOUR_MS } from '../../../kernel/clock.js';
import { backoffMs, type Backoff } from '../../../platform/jobs/backoff.js';
import { Background } from '../../../platform/jobs/background-work.js';
import { DueWork, type WorkOutcome } from '../../../platform/jobs/due-work.js';
import { dropWork, scheduleWork, WorkItems, type WorkItem } from '../../../platform/jobs/work-items.js';
import {
  subscriptionName,
  subscriptionOf,
  type SubscriptionDefinition,
} from '../../../platform/projections/projection.js';
import { DomainError } from '../../../kernel/domain-error.js';
import type { UserDeactivationStarted } from '../../users/users.contract.js';
import type { OnboardingEvent } from './onboarding.js';
import { OnboardingSteps } from './onboarding-steps.service.js';
import { describeError } from '../providers/providers.ports.js';
import { onboardingConfig, type OnboardingConfig } from '../onboarding.config.js';

/** The work kind of automatic steps, keyed by user id. */
export const STEP = 'onboarding.step';

interface State {
  readonly polls?: number;
}
type Step = WorkItem<State>;

/** The backoff between polls of a review, in case no callback arrives. */
const REVIEW: Backoff = { firstMs: 1000, maxMs: HOUR_MS };
const RETRY: Backoff = { firstMs: 250, maxMs: 300_000 };
const ENDS: readonly DomainError['code'][] = ['invalid_transition', 'not_found'];

/** Performs the automatic steps. Identity checks and cards fail after ONBOARDING_GIVE_UP_SECONDS. */
@Injectable()
export class StepsProcessor {
  private readonly logger = new Logger(StepsProcessor.name);
  @Background()
  readonly work: DueWork<State>;

  constructor(
    items: WorkItems,
    private readonly steps: OnboardingSteps,
    @Inject(onboardingConfig.KEY) private readonly config: OnboardingConfig,
  ) {
    this.work = new DueWork(items, {
      kind: STEP,
      everyMs: 500,
      batch: 16,
      leaseMs: 60_000,
      // Uploading several images may exceed the lease.
      keepsLease: true,
      retry: RETRY,
      perform: (step) => this.advance(step),
    });
  }

  private async advance(step: Step): Promise<WorkOutcome> {
    const { polls = 0 } = step.state;
    try {
      const stage = await this.steps.advance(step.key);
      if (stage === 'kyc_submitted') return { inMs: backoffMs(REVIEW, polls), state: { polls: polls + 1 } };
    } catch (error) {
      if (!(error instanceof DomainError) || !ENDS.includes(error.code)) return this.failed(step, error);
      this.logger.warn({ msg: 'onboarding ended', user_id: step.key, reason: error.message });
    }
    return 'done';
  }

  private async failed(step: Step, error: unknown): Promise<WorkOutcome> {
    const message = describeError(error);
    let cause = message;
    const { key: user_id, failures: failed_attempts, failing_seconds } = step;
    const err = { message, stack: whereFrom(error) };
    const entry = { user_id, failed_attempts, failing_seconds: Math.round(failing_seconds), err };
    // A domain error means that no provider is configured: the step waits.
    if (!(error instanceof DomainError) && failing_seconds >= this.config.onboardingGiveUpSeconds) {
      const stage = await this.steps.giveUp(step.key);
      if (stage === 'kyc_failed' || stage === 'card_failed') {
        this.logger.error({ msg: 'onboarding failed: retries ended', ...entry, stage });
        return 'done';
      }
      cause = `${message}; retried for too long`;
    }
    const level = cause === message ? 'warn' : 'error';
    if (cause !== step.cause)
      this.logger[level]({ msg: 'onboarding waiting: attempt failed, retrying', ...entry });
    return { failure: { cause } };
  }
}

/** Returns the stack without the message, which may contain personal data. */
function whereFrom(error: unknown): string | undefined {
  const lines = error instanceof Error ? (error.stack ?? '').split('\n') : [];
  return lines.filter((line) => /^\s+at /.test(line)).join('\n') || undefined;
}

/** Schedules the automatic steps, and drops those of users who are deactivating. */
export function stepsSaga(wake: () => void): SubscriptionDefinition {
  return subscriptionOf<OnboardingEvent | UserDeactivationStarted>({
    name: subscriptionName('onboarding.steps'),
    events: [
      'onboarding.kyc_submitted.v1',
      'onboarding.kyc_passed.v1',
      'onboarding.card_retried.v1',
      'user.deactivation_started.v1',
    ],
    async apply(events, tx) {
      const last = new Map(events.map(({ type, data }) => [data.user_id, type]));
      const users = [...last.keys()];
      const isOver = (userId: string): boolean => last.get(userId) === 'user.deactivation_started.v1';
      const waiting = users.filter((userId) => !isOver(userId)).map((key) => ({ key, state: {} }));
      await scheduleWork(tx, STEP, waiting);
      await dropWork(tx, STEP, users.filter(isOver));
    },
    afterCommit: wake,
  });
}
