import { deriveId } from '../../../kernel/ids.js';

/** The types that an endpoint receives only when it lists them (contract.md 13.9). */
const LISTED_TYPES = ['order.completed', 'order.failed', 'order.refundable', 'order.refunded'] as const;

/** The types of the event catalog (contract.md 13.5 and 13.9), to which an endpoint may subscribe. */
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

/** Checks that an endpoint receives the type. An endpoint without types receives all but LISTED_TYPES. */
export function receives(
  { event_types: own }: { readonly event_types: readonly string[] | null },
  type: EventType,
): boolean {
  return own?.includes(type) ?? !LISTED_TYPES.some((listed) => listed === type);
}

/** The type of test deliveries, which no context publishes. */
export const TEST_TYPE = 'webhook_endpoint.test' satisfies EventType;

export type EventType = (typeof EVENT_TYPES)[number];

/** Derives a delivery's id from event, endpoint and a listed type, because an event may publish several. */
export function deliveryId(eventId: string, endpointId: string, type: string): string {
  const isListed = LISTED_TYPES.some((listed) => listed === type);
  return deriveId(eventId, endpointId, ...(isListed ? [type] : []));
}
