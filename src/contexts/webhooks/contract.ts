import { WEBHOOK_ENDPOINT_EVENTS } from './domain/webhook-endpoints.js';
import { WEBHOOK_RECOVERY_REQUESTED } from './domain/webhook-recovery.js';
import { WEBHOOK_RESEND_REQUESTED } from './domain/webhook-resend.js';

/** Events of the webhooks context that other contexts may read; everything else here is private. */

/** A synthetic delivery was asked for (contract.md 12.10). */
export interface WebhookTestRequested {
  readonly type: 'webhook_endpoint.test_requested.v1';
  readonly data: {
    /** Id of the delivery: the `webhook-id` header. */
    readonly delivery_id: string;
    readonly endpoint_id: string;
    readonly merchant_id: string;
    readonly message: string;
    readonly occurred_at: string;
  };
}

export const WEBHOOK_TEST_REQUESTED =
  'webhook_endpoint.test_requested.v1' satisfies WebhookTestRequested['type'];

/** Stored names of all events of webhooks. */
export const WEBHOOK_EVENTS = [
  ...WEBHOOK_ENDPOINT_EVENTS,
  WEBHOOK_TEST_REQUESTED,
  WEBHOOK_RESEND_REQUESTED,
  WEBHOOK_RECOVERY_REQUESTED,
] as const;

/** Why an endpoint is disabled: by PATCH, because its receiver answered 410, or because it kept failing. */
export type DisableCause = 'merchant' | 'gone' | 'failing';
