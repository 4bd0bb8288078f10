import { DomainError } from '../../../kernel/domain-error.js';
import { Field, Many, Nested, Shown } from '../../../platform/dto/field.js';
import { COUNT, instant, oneOf, TIME, UUID } from '../../../platform/dto/rules.js';
import { createdPage, createdPageQuery, Filter, MAX_PAGE } from '../../../platform/http/page-query.js';
import {
  DELIVERY_STATUSES,
  type AttemptJson,
  type DeliveryJson,
  type DeliveryStatus,
} from '../domain/delivery-json.js';
import { EVENT_TYPES, type EventType } from '../domain/envelope.js';
import { COUNTED, type EndpointStats } from '../views/endpoint-stats.js';
import { ATTEMPTS_SHOWN } from '../views/find-delivery.js';
import type { DeliveryFilter } from '../views/list-deliveries.js';

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

class WebhookDelivery implements DeliveryJson {
  @Shown(UUID, { description: 'The `webhook-id` header; the same for every attempt and resend.' })
  id!: string;

  @Shown(UUID)
  webhook_endpoint_id!: string;

  @Shown({ type: 'string', enum: EVENT_TYPES })
  type!: string;

  @Shown(
    { type: 'string', enum: DELIVERY_STATUSES },
    {
      description:
        '`exhausted`: it is not tried again. `dropped`: the endpoint was disabled or deleted; nothing was sent. Both can be sent after all by resend and recover.',
    },
  )
  status!: DeliveryStatus;

  @Shown(COUNT)
  attempt_count!: number;

  @Shown(TIME)
  created_at!: string;

  @Shown(TIME, {
    nullable: true,
    description: 'Null unless pending. In the past while an attempt is under way.',
  })
  next_attempt_at!: string | null;

  @Shown(TIME, { nullable: true, description: 'Null while pending.' })
  finished_at!: string | null;
}

class WebhookAttempt implements AttemptJson {
  @Shown({ type: 'integer', minimum: 1 }, { description: 'Counted on over resends.' })
  attempt!: number;

  @Shown(TIME)
  started_at!: string;

  @Shown(COUNT, { description: 'Until the answer was read, or the attempt given up.' })
  latency_ms!: number;

  @Shown({ type: 'string', enum: ['succeeded', 'failed'] })
  outcome!: 'succeeded' | 'failed';

  @Shown({ type: 'integer' }, { nullable: true, description: 'Null when there was no answer.' })
  http_status!: number | null;

  @Shown(
    { type: 'string' },
    {
      nullable: true,
      description:
        'Where it broke: address, dns, connect, tls, send, answer, timeout. Null when there was an answer.',
    },
  )
  error_class!: string | null;

  @Shown({ type: 'string' }, { nullable: true, description: 'An error code or a short sentence.' })
  error!: string | null;

  @Shown({ type: 'string' }, { nullable: true, description: 'The first KiB of the answer, as UTF-8.' })
  response_excerpt!: string | null;
}

class WebhookDeliveryDetail extends WebhookDelivery {
  @Shown({ type: 'object', description: 'The envelope that is signed and sent.' })
  payload!: object;

  @Many(() => WebhookAttempt, {
    maxItems: ATTEMPTS_SHOWN,
    description: `Oldest first; after more than ${ATTEMPTS_SHOWN} the newest of them.`,
  })
  attempts!: readonly WebhookAttempt[];
}

class DeliveriesByStatus implements Record<DeliveryStatus, number> {
  @Shown(COUNT)
  pending!: number;

  @Shown(COUNT)
  succeeded!: number;

  @Shown(COUNT)
  exhausted!: number;

  @Shown(COUNT)
  dropped!: number;
}

class AttemptsByOutcome {
  @Shown(COUNT)
  succeeded!: number;

  @Shown(COUNT)
  failed!: number;
}

class Latency {
  @Shown(COUNT)
  p50!: number;

  @Shown(COUNT)
  p95!: number;

  @Shown(COUNT)
  p99!: number;
}

class WebhookEndpointStats implements EndpointStats {
  @Shown(UUID)
  webhook_endpoint_id!: string;

  @Shown(TIME, { description: 'From when deliveries are counted.' })
  since!: string;

  @Shown(
    { type: 'boolean' },
    {
      description: `More than ${COUNTED} were created since the moment that was asked for; \`since\` is a later one.`,
    },
  )
  truncated!: boolean;

  @Nested(() => DeliveriesByStatus)
  deliveries!: DeliveriesByStatus;

  @Nested(() => AttemptsByOutcome)
  attempts!: AttemptsByOutcome;

  @Shown(
    { type: 'object', additionalProperties: COUNT },
    {
      description:
        'Failed attempts by error class, and by http_3xx, http_4xx, http_5xx where there was an answer.',
    },
  )
  failures!: Readonly<Record<string, number>>;

  @Nested(() => Latency, {
    nullable: true,
    description: 'Of attempts that were answered; null when none was.',
  })
  latency_ms!: Latency | null;

  @Shown(COUNT, { description: `Whenever they were created; counted up to ${COUNTED}.` })
  pending_now!: number;

  @Shown(TIME, {
    nullable: true,
    description: 'Since when the longest waiting delivery is due that is not being sent; null when none is.',
  })
  oldest_due_at!: string | null;
}

class WebhookRecovery {
  @Shown(UUID)
  id!: string;

  @Shown(UUID)
  webhook_endpoint_id!: string;

  @Shown(TIME)
  since!: string;

  @Shown(TIME)
  requested_at!: string;
}

/** `data` of `webhook_endpoint.test`. */
export class TestEventData {
  @Shown(UUID)
  webhook_endpoint_id!: string;

  @Shown({ type: 'string' })
  message!: string;
}

class WebhookTestDelivery {
  @Shown(UUID, { description: 'The `webhook-id` header of the delivery.' })
  id!: string;

  @Shown({ const: 'webhook_endpoint.test' })
  type!: string;

  @Shown(TIME)
  occurred_at!: string;

  @Nested(() => TestEventData)
  data!: TestEventData;
}

export class WebhookDeliveriesResponse {
  @Many(() => WebhookDelivery, { maxItems: MAX_PAGE })
  webhook_deliveries!: readonly WebhookDelivery[];

  @Shown({ type: 'string' }, { nullable: true })
  next_cursor!: string | null;
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
