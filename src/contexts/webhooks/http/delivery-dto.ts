import { DomainError } from '../../../kernel/domain-error.js';
import { ApiProperty, Field, Nested } from '../../../platform/dto/field.js';
import { instant, oneOf, TIME, UUID } from '../../../platform/dto/rules.js';
import { createdPage, createdPageQuery, Filter } from '../../../platform/http/page-query.js';
import { EVENT_TYPES, type EventType } from '../domain/event-types.js';
import type { DeliveryFilter } from '../views/deliveries.js';
import {
  DELIVERY_STATUSES,
  WebhookDelivery,
  WebhookDeliveryDetail,
  type DeliveryStatus,
} from '../views/delivery-json.js';
import { WebhookEndpointStats } from '../views/endpoint-stats.js';

/** Deliveries on a page when `page_size` is not given. */
const DEFAULT_PAGE = 100;
const DAY_MS = 86_400_000;
const LONGEST_DAYS = 30;

/** Query of GET webhook_endpoints/{id}/deliveries. */
export class DeliveriesQuery extends createdPageQuery(DEFAULT_PAGE, 'The most deliveries per page.') {
  @Filter(oneOf(DELIVERY_STATUSES), 'Only deliveries in this status.')
  status?: DeliveryStatus;

  @Filter(oneOf(EVENT_TYPES), 'Only deliveries of this type.')
  type?: EventType;
}

export function deliveryFilter(query: DeliveriesQuery): DeliveryFilter {
  return { ...createdPage(query), status: query.status, type: query.type };
}

/** Query of GET webhook_endpoints/{id}/stats. */
export class StatsQuery {
  @Filter(instant, `RFC 3339; 24 hours ago by default, at most ${LONGEST_DAYS} days ago, not in the future.`)
  since?: Date;
}

/** From when statistics are asked for. Throws `bad_request` when it is too long ago or to come. */
export function statsSince({ since }: StatsQuery, now: Date): Date {
  if (since === undefined) return new Date(now.getTime() - DAY_MS);
  if (since > now) throw new DomainError('bad_request', 'since must not be in the future');
  if (now.getTime() - since.getTime() > LONGEST_DAYS * DAY_MS)
    throw new DomainError('bad_request', `since must lie within the last ${LONGEST_DAYS} days`);
  return since;
}

/** Body of POST webhook_endpoints/{id}/recover. */
export class RecoveryRequest {
  @Field(instant, { description: 'RFC 3339, not in the future.' })
  since!: Date;
}

class WebhookRecovery {
  @ApiProperty(UUID)
  id!: string;

  @ApiProperty(UUID)
  webhook_endpoint_id!: string;

  @ApiProperty(TIME)
  since!: string;

  @ApiProperty(TIME)
  requested_at!: string;
}

/** `data` of `webhook_endpoint.test`. */
export class TestEventData {
  @ApiProperty(UUID)
  webhook_endpoint_id!: string;

  @ApiProperty({ type: 'string' })
  message!: string;
}

class WebhookTestDelivery {
  @ApiProperty({ ...UUID, description: 'The `webhook-id` header of the delivery.' })
  id!: string;

  @ApiProperty({ const: 'webhook_endpoint.test' })
  type!: string;

  @ApiProperty(TIME)
  occurred_at!: string;

  @Nested(() => TestEventData)
  data!: TestEventData;
}

export class WebhookDeliveryResponse {
  @Nested(() => WebhookDelivery)
  webhook_delivery!: WebhookDelivery;
}

export class WebhookDeliveryDetailResponse {
  @Nested(() => WebhookDeliveryDetail)
  webhook_delivery!: WebhookDeliveryDetail;
}

export class WebhookTestDeliveryResponse {
  @Nested(() => WebhookTestDelivery)
  webhook_delivery!: WebhookTestDelivery;
}

export class WebhookEndpointStatsResponse {
  @Nested(() => WebhookEndpointStats)
  webhook_endpoint_stats!: WebhookEndpointStats;
}

export class WebhookRecoveryResponse {
  @Nested(() => WebhookRecovery)
  webhook_recovery!: WebhookRecovery;
}
