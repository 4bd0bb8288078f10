/** Of an onboarding that the service takes further, in the order in which it passes them. */
export const ONBOARDING_FAILPOINTS = [
  'onboarding.identity_decided',
  'onboarding.wallet_given',
  'onboarding.wallet_recorded',
  'onboarding.cardholder_created',
  'onboarding.cardholder_kept',
  'onboarding.card_created',
  'onboarding.card_kept',
  'onboarding.card_recorded',
  'onboarding.user_activated',
  'onboarding.completed',
] as const;

declare module '../../platform/failpoints.js' {
  interface Failpoints extends Record<(typeof ONBOARDING_FAILPOINTS)[number], true> {}
}
