/** Of an onboarding on its way, in the order in which it passes them. */
export const ONBOARDING_FAILPOINTS = [
  'onboarding.code_issued',
  'onboarding.code_sent',
  'onboarding.image_stored',
  'onboarding.applicant_created',
  'onboarding.applicant_kept',
  'onboarding.images_uploaded',
  'onboarding.check_opened',
  'onboarding.check_kept',
  'onboarding.images_deleted',
  'onboarding.identity_decided',
  'onboarding.kyc_passed',
  'onboarding.wallet_given',
  'onboarding.wallet_provisioned',
  'onboarding.cardholder_created',
  'onboarding.cardholder_kept',
  'onboarding.card_created',
  'onboarding.card_kept',
  'onboarding.card_issued',
  'onboarding.user_activated',
  'onboarding.completed',
] as const;

type Name = (typeof ONBOARDING_FAILPOINTS)[number];

declare module '../../platform/failpoints.js' {
  interface Failpoints extends Record<Name, true> {}
}
