import { WEBHOOK_ENDPOINT_EVENTS } from './domain/webhook-endpoints.js';
import {
  WEBHOOK_RECOVERY_REQUESTED,
  WEBHOOK_RESEND_REQUESTED,
  WEBHOOK_TEST_REQUESTED,
} from './domain/webhook-requests.js';

/** Stored names of all events of webhooks: all that other contexts may know of it. */
export const WEBHOOK_EVENTS = [
  ...WEBHOOK_ENDPOINT_EVENTS,
  WEBHOOK_TEST_REQUESTED,
  WEBHOOK_RESEND_REQUESTED,
  WEBHOOK_RECOVERY_REQUESTED,
] as const;
export type { DisableCause } from './domain/webhook-endpoints.js';
export { AuditedDeliveries, type AuditedAttempt, type AuditedDelivery } from './views/audited-deliveries.js';
