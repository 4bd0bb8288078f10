import { CommandBus } from '@nestjs/cqrs';
import { DomainError } from '../../../kernel/domain-error.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { defineOperation, type Get } from '../../../platform/operations/operation-definition.js';
import { USER_SUBJECT } from '../../users/contract.js';
import { SandboxReviews } from '../store/verifications.js';
import { en } from '../messages/en.js';
import { DecideReview, RetryStep } from './operator-commands.js';

export const REVIEW_DECISIONS = ['approve', 'reject'] as const;

export interface ReviewDecision {
  readonly decision: (typeof REVIEW_DECISIONS)[number];
}

/** What operators may do to the onboarding of a user (admin-api.md 4). */
export const ONBOARDING_OPERATIONS = [
  defineOperation({
    ...USER_SUBJECT,
    name: 'users.retry',
    execute: async ({ subjectId }, get) => {
      const stage = await get(CommandBus).execute(new RetryStep(subjectId));
      return { stage };
    },
  }),
  defineOperation<ReviewDecision>({
    ...USER_SUBJECT,
    name: 'users.review',
    check: async (_, get, userId) => {
      if (!(await isUnderReview(get, userId)))
        throw new DomainError('invalid_transition', 'No identity of this user is under review');
    },
    execute: async ({ subjectId, parameters: { decision } }, get) => {
      // The person reads this reason. That of the operation is the operators' own.
      const outcome =
        decision === 'approve'
          ? { passed: true as const }
          : { passed: false as const, reason: en.reasonVerification };
      await get(CommandBus).execute(new DecideReview(subjectId, outcome));
    },
  }),
];

async function isUnderReview(get: Get, userId: string): Promise<boolean> {
  if (get<Pick<Config, 'mode'>>(CONFIG).mode !== 'sandbox')
    throw new DomainError(
      'invalid_transition',
      'Outside the sandbox the identity provider decides, in its dashboard',
    );
  return get(SandboxReviews).isOpen(userId);
}
