import { publication, type Publication } from '../../platform/context.js';
import type {
  KycFailed,
  KycPassed,
  KycSubmitted,
  OnboardingCompleted,
  OnboardingStarted,
} from './domain/onboarding.js';

/** What endpoints hear of onboardings (contract.md 13.5). */
export const ONBOARDING_PUBLISHES: Readonly<Record<string, Publication>> = {
  'onboarding.started.v1': publication<OnboardingStarted>('user.onboarding_started', ({ at, user_id }) => ({
    occurredAt: at,
    fields: { user_id },
  })),
  'onboarding.kyc_submitted.v1': publication<KycSubmitted>('user.kyc_submitted', ({ at, user_id }) => ({
    occurredAt: at,
    fields: { user_id },
  })),
  'onboarding.kyc_passed.v1': publication<KycPassed>('user.kyc_passed', ({ at, user_id }) => ({
    occurredAt: at,
    fields: { user_id },
  })),
  'onboarding.kyc_failed.v1': publication<KycFailed>('user.kyc_failed', ({ at, user_id, reason }) => ({
    occurredAt: at,
    fields: { user_id, reason },
  })),
  'onboarding.completed.v1': publication<OnboardingCompleted>(
    'user.onboarding_completed',
    ({ at, user_id, issuer_wallet_address }) => ({
      occurredAt: at,
      fields: { user_id, issuer_wallet_address },
    }),
  ),
};
