export { deliveryId, EVENT_TYPES } from './endpoints/event-types.js';
export type { DisableCause } from './endpoints/webhook-endpoints.js';
export { type DeliveryRecord, readDeliveries } from './deliveries/deliveries.view.js';
