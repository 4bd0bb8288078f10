/** What other contexts may know of webhooks: the ids of deliveries, their types, and what an audit reads of them. */
export { deliveryId } from './domain/delivery-id.js';
export { EVENT_TYPES, type DisableCause } from './domain/webhook-endpoints.js';
export { type DeliveryRecord, readDeliveries } from './views/audited-deliveries.js';
