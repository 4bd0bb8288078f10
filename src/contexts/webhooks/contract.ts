/** What other contexts may know of webhooks: published events, lists, and commands of a merchant. */

export { deliveryId } from './domain/delivery-id.js';
export { EVENT_TYPES, type DisableCause } from './domain/webhook-endpoints.js';
export { type DeliveryRecord, readDeliveries } from './views/audited-deliveries.js';
export { DeliveriesList, type AdminDeliveriesPage, type DeliveriesFilter } from './views/deliveries-list.js';
export { DeliveriesView } from './views/deliveries.js';
export { EndpointsList, type EndpointsFilter, type EndpointsPage } from './views/endpoints-list.js';
export { EndpointsView } from './views/endpoints.js';
export { DELIVERIES_SAGA } from './application/deliveries-saga.js';
export {
  RecoverWebhookEndpoint,
  RequestTestDelivery,
  ResendWebhookDelivery,
} from './application/delivery-commands.js';
export { RotateSigningSecret } from './application/endpoint-commands.js';
export type { MerchantCaller, Responded } from './application/caller.js';
