import { ApiProperty, ResourceOf, PageOf } from '../../../platform/dto/field.js';
import { datePoint, type DatePoint } from '../../../platform/dto/date-point.js';
import { oneOf, uuid, UUID } from '../../../platform/dto/rules.js';
import { Filter, MAX_PAGE, ListParameters } from '../../../platform/http/list-query.js';
import { EVENT_TYPES, type EventType } from '../endpoints/event-types.js';
import { ENDPOINT_STATUSES, type EndpointStatus } from '../endpoints/webhook-endpoints.js';
import { DELIVERY_STATUSES, type DeliveryStatus } from './retry.js';
import { WebhookDeliveryDetail } from './deliveries.dto.js';
import { WebhookDelivery } from './delivery-page.view.js';
import { WebhookEndpoint } from '../endpoints/endpoints.view.js';

export class EndpointsQuery extends ListParameters {
  @Filter(uuid, 'Only endpoints of this merchant.') merchant_id?: string;
  @Filter(oneOf(ENDPOINT_STATUSES), 'Only endpoints in this status.') status?: EndpointStatus;
}

/** The query of GET /admin/v1/deliveries (admin-api.md 3). */
export class AdminDeliveriesQuery extends ListParameters {
  @Filter(uuid, 'Only deliveries to this endpoint.') endpoint_id?: string;
  @Filter(oneOf(DELIVERY_STATUSES), 'Only deliveries in this status.') status?: DeliveryStatus;
  @Filter(oneOf(EVENT_TYPES), 'Only deliveries of this type.') type?: EventType;
  @Filter(datePoint, 'Created at or after this instant; a date is its first instant in UTC.')
  from?: DatePoint;
  @Filter(datePoint, 'Created at or before this instant; a date includes its whole day in UTC.')
  to?: DatePoint;

  @Filter(uuid, 'Only deliveries of this merchant.') merchant_id?: string;
}

class AdminWebhookEndpoint extends WebhookEndpoint {
  @ApiProperty(UUID) merchant_id!: string;
}

export class AdminEndpointsResponse extends PageOf('webhook_endpoints', AdminWebhookEndpoint, {
  maxItems: MAX_PAGE,
}) {}

class AdminDelivery extends WebhookDelivery {
  @ApiProperty(UUID) merchant_id!: string;
}

class AdminDeliveryDetail extends WebhookDeliveryDetail {
  @ApiProperty(UUID) merchant_id!: string;
}

export class AdminDeliveriesResponse extends PageOf('deliveries', AdminDelivery, { maxItems: MAX_PAGE }) {}

export class AdminDeliveryResponse extends ResourceOf('delivery', AdminDeliveryDetail) {}

export class AdminDeliveryWritten extends ResourceOf('delivery', AdminDelivery) {
  @ApiProperty(UUID) operation_id!: string;
}
