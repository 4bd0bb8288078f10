export { deliveryId, EVENT_TYPES } from './domain/event-types.js';
export type { DisableCause } from './domain/webhook-endpoints.js';
export { type DeliveryRecord, readDeliveries } from './views/audited-deliveries.js';
