/** Types of the event catalog (contract.md 13.5), the only values an endpoint may subscribe to. */
export const EVENT_TYPES = [
  'user.onboarding_started',
  'user.kyc_submitted',
  'user.kyc_passed',
  'user.kyc_failed',
  'user.onboarding_completed',
  'payout.received',
  'payout.failed',
  'webhook_endpoint.test',
] as const;

/** Of deliveries that a merchant asked for, to try an endpoint: no context publishes it. */
export const TEST_TYPE = 'webhook_endpoint.test' satisfies EventType;

export type EventType = (typeof EVENT_TYPES)[number];
