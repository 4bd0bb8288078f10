import { DAY_MS } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { ApiProperty, Field, Many, Nested, PageOf, ResourceOf } from '../../../platform/dto/field.js';
import { queryInstant } from '../../../platform/dto/date-point.js';
import { COUNT, instant, oneOf, TIME, UUID } from '../../../platform/dto/rules.js';
import { createdListQuery, Filter, MAX_PAGE } from '../../../platform/http/list-query.js';
import { EVENT_TYPES, type EventType } from '../endpoints/event-types.js';
import { DELIVERY_STATUSES, type DeliveryStatus } from './retry.js';
import { LISTED_ATTEMPTS } from './deliveries.view.js';
import { WebhookDelivery } from './delivery-page.view.js';
import { COUNTED } from '../endpoints/endpoint-stats.view.js';

class WebhookAttempt {
  @ApiProperty({ type: 'integer', minimum: 1, description: 'Counted on over resends.' }) attempt!: number;
  @ApiProperty(TIME) started_at!: string;

  @ApiProperty({ ...COUNT, description: 'Until the response was read, or the attempt given up.' })
  latency_ms!: number;

  @ApiProperty({ type: 'string', enum: ['succeeded', 'failed'] }) outcome!: 'succeeded' | 'failed';

  @ApiProperty({ type: 'integer', nullable: true, description: 'Null when there was no response.' })
  http_status!: number | null;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description:
      'Where it broke: address, dns, connect, tls, send, response, timeout. Null when there was a response.',
  })
  error_class!: string | null;

  @ApiProperty({ type: 'string', nullable: true, description: 'What broke, perhaps after an `http_status`.' })
  error!: string | null;

  @ApiProperty({ type: 'string', nullable: true, description: 'The first KiB of the response, as UTF-8.' })
  response_excerpt!: string | null;
}

export class WebhookDeliveryDetail extends WebhookDelivery {
  @ApiProperty({ type: 'object', description: 'The envelope that is signed and sent.' }) payload!: object;

  @Many(() => WebhookAttempt, {
    maxItems: LISTED_ATTEMPTS,
    description: `Oldest first; after more than ${LISTED_ATTEMPTS} the newest of them.`,
  })
  attempts!: readonly WebhookAttempt[];
}

export class WebhookDeliveriesResponse extends PageOf('webhook_deliveries', WebhookDelivery, {
  maxItems: MAX_PAGE,
}) {}

const DEFAULT_PAGE = 100;
const LONGEST_DAYS = 30;

export class DeliveriesQuery extends createdListQuery(DEFAULT_PAGE, 'The most deliveries per page.') {
  @Filter(oneOf(DELIVERY_STATUSES), 'Only deliveries in this status.') status?: DeliveryStatus;
  @Filter(oneOf(EVENT_TYPES), 'Only deliveries of this type.') type?: EventType;
}

export class StatsQuery {
  @Filter(
    queryInstant,
    `RFC 3339; 24 hours ago by default, at most ${LONGEST_DAYS} days ago, not in the future.`,
  )
  since?: Date;
}

export function statsSince({ since }: StatsQuery, now: Date): Date {
  if (since === undefined) return new Date(now.getTime() - DAY_MS);
  if (since > now) throw new DomainError('bad_request', 'since must not be in the future');
  if (now.getTime() - since.getTime() > LONGEST_DAYS * DAY_MS)
    throw new DomainError('bad_request', `since must lie within the last ${LONGEST_DAYS} days`);
  return since;
}

export class RecoveryRequest {
  @Field(instant, { description: 'RFC 3339, not in the future.' }) since!: Date;
}

class DeliveriesByStatus implements Record<DeliveryStatus, number> {
  @ApiProperty(COUNT) pending!: number;
  @ApiProperty(COUNT) succeeded!: number;
  @ApiProperty(COUNT) exhausted!: number;
  @ApiProperty(COUNT) dropped!: number;
}

class AttemptsByOutcome {
  @ApiProperty(COUNT) succeeded!: number;
  @ApiProperty(COUNT) failed!: number;
}

class Latency {
  @ApiProperty(COUNT) p50!: number;
  @ApiProperty(COUNT) p95!: number;
  @ApiProperty(COUNT) p99!: number;
}

class WebhookEndpointStats {
  @ApiProperty(UUID) webhook_endpoint_id!: string;
  @ApiProperty({ ...TIME, description: 'From when deliveries are counted.' }) since!: string;

  @ApiProperty({
    type: 'boolean',
    description: `More than ${COUNTED} were created since the time requested; \`since\` is a later one.`,
  })
  truncated!: boolean;

  @Nested(() => DeliveriesByStatus) deliveries!: DeliveriesByStatus;
  @Nested(() => AttemptsByOutcome) attempts!: AttemptsByOutcome;

  @ApiProperty({
    type: 'object',
    additionalProperties: COUNT,
    description:
      'Failed attempts by error class, and by http_3xx, http_4xx, http_5xx where there was a response.',
  })
  failures!: Readonly<Record<string, number>>;

  @Nested(() => Latency, {
    nullable: true,
    description: 'Of attempts that got a response; null when none did.',
  })
  latency_ms!: Latency | null;

  @ApiProperty({ ...COUNT, description: `Whenever they were created; counted up to ${COUNTED}.` })
  pending_now!: number;

  @ApiProperty({
    ...TIME,
    nullable: true,
    description: 'Since when the longest waiting delivery is due that is not being sent; null when none is.',
  })
  oldest_due_at!: string | null;
}

class WebhookRecovery {
  @ApiProperty(UUID) id!: string;
  @ApiProperty(UUID) webhook_endpoint_id!: string;
  @ApiProperty(TIME) since!: string;
  @ApiProperty(TIME) requested_at!: string;
}

/** The `data` of a `webhook_endpoint.test` event. */
export class TestEventData {
  @ApiProperty(UUID) webhook_endpoint_id!: string;
  @ApiProperty({ type: 'string' }) message!: string;
}

class WebhookTestDelivery {
  @ApiProperty({ ...UUID, description: 'The `webhook-id` header of the delivery.' }) id!: string;
  @ApiProperty({ const: 'webhook_endpoint.test' }) type!: string;
  @ApiProperty(TIME) occurred_at!: string;
  @Nested(() => TestEventData) data!: TestEventData;
}

export class WebhookDeliveryResponse extends ResourceOf('webhook_delivery', WebhookDelivery) {}

export class WebhookDeliveryDetailResponse extends ResourceOf('webhook_delivery', WebhookDeliveryDetail) {}

export class WebhookTestDeliveryResponse extends ResourceOf('webhook_delivery', WebhookTestDelivery) {}

export class WebhookEndpointStatsResponse extends ResourceOf(
  'webhook_endpoint_stats',
  WebhookEndpointStats,
) {}

export class WebhookRecoveryResponse extends ResourceOf('webhook_recovery', WebhookRecovery) {}
