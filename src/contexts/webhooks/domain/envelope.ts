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

/** An event as endpoints get it, before it has a delivery's id. */
export interface PublishedEvent {
  readonly type: EventType;
  readonly occurredAt: string;
  readonly merchantId: string;
  /** JSON text of the `data` object, fields in the order of contract.md 13.5. */
  readonly data: string;
}

/** The body of a delivery (contract.md 13.1), as the exact text that is signed and sent. */
export function envelope(deliveryId: string, event: PublishedEvent): string {
  const head = JSON.stringify({
    id: deliveryId,
    type: event.type,
    occurred_at: event.occurredAt,
    merchant_id: event.merchantId,
  });
  return `${head.slice(0, -1)},"data":${event.data}}`;
}

/** Adds a field whose value is JSON text already: what a merchant sent as `custom_metadata` comes back as sent. */
export function withJsonText(fields: object, name: string, text: string): string {
  return `${JSON.stringify(fields).slice(0, -1)},${JSON.stringify(name)}:${text}}`;
}
