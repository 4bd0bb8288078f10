/** What other contexts may know of webhooks: the ids of deliveries, their types, and what an audit reads of them. */
export { deliveryId, EVENT_TYPES } from './domain/event-types.js';
export type { DisableCause } from './domain/webhook-endpoints.js';
export { type DeliveryRecord, readDeliveries } from './views/audited-deliveries.js';
