/** What other contexts may know of onboarding: published events. */
export type {
  KycFailed,
  KycPassed,
  KycSubmitted,
  OnboardingCompleted,
  OnboardingEvent,
  OnboardingStarted,
} from './domain/onboarding.js';
