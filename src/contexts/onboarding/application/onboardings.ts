import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { Executed, ExecuteOptions, Loaded } from '../../../platform/event-store/command-loop-types.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { UsersView, type ExistingUser } from '../../users/contract.js';
import { onboarding, type Onboarding, type OnboardingEvent, type Started } from '../domain/onboarding.js';

export type Decision = (state: Onboarding, at: string) => OnboardingEvent[];

@Injectable()
export class Onboardings {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly users: UsersView,
  ) {}

  /** Throws `not_found` when the merchant has no such user, and `invalid_transition` for one who is deactivating. */
  async applicant({ merchantId, userId }: Started): Promise<ExistingUser> {
    const found = await this.users.find(merchantId, userId);
    if (found === null) throw DomainError.notFound('User');
    if (found.accountState === 'deactivating' || found.accountState === 'deactivated')
      throw new DomainError('invalid_transition', `The user is ${found.accountState}`);
    return found;
  }

  load(userId: string): Promise<Loaded<Onboarding>> {
    return this.loop.load(onboarding, userId);
  }

  execute(
    userId: string,
    decision: Decision,
    options: ExecuteOptions<Onboarding>,
  ): Promise<Executed<Onboarding, OnboardingEvent>> {
    const at = timestamp(this.clock);
    return this.loop.execute(onboarding, userId, (current) => decision(current, at), options);
  }

  async decide(userId: string, metadata: EventMetadata, decision: Decision): Promise<Onboarding> {
    return (await this.execute(userId, decision, { metadata })).state;
  }
}
