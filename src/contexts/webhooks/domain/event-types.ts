import { deriveId } from '../../../kernel/ids.js';

/** Types that an endpoint receives only when it lists them (contract.md 13.9): what all types are to others stays as it is. */
const LISTED_TYPES = ['order.completed', 'order.failed', 'order.refundable', 'order.refunded'] as const;

/** Types of the event catalog (contract.md 13.5 and 13.9), the only values an endpoint may subscribe to. */
export const EVENT_TYPES = [
  'user.onboarding_started',
  'user.kyc_submitted',
  'user.kyc_passed',
  'user.kyc_failed',
  'user.onboarding_completed',
  'payout.received',
  'payout.failed',
  'webhook_endpoint.test',
  ...LISTED_TYPES,
] as const;

/** Checks that an endpoint with these types receives the type; null: it lists none. */
export function receives(eventTypes: readonly string[] | null, type: EventType): boolean {
  return eventTypes?.includes(type) ?? !LISTED_TYPES.some((listed) => listed === type);
}

/** The type of deliveries that a merchant requested as a test. No context publishes it. */
export const TEST_TYPE = 'webhook_endpoint.test' satisfies EventType;

export type EventType = (typeof EVENT_TYPES)[number];

/**
 * The id of a delivery follows from event and endpoint, and from a type that has to be listed: one event may be sent as
 * several of those.
 */
export function deliveryId(eventId: string, endpointId: string, type: string): string {
  const isListed = LISTED_TYPES.some((listed) => listed === type);
  return deriveId(eventId, endpointId, ...(isListed ? [type] : []));
}
