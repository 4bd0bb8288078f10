/** What other contexts may know of onboarding: published events. */
export { ONBOARDING_EVENTS } from './domain/onboarding.js';
export type {
  KycFailed,
  KycPassed,
  KycSubmitted,
  OnboardingCompleted,
  OnboardingEvent,
  OnboardingStarted,
} from './domain/onboarding.js';
