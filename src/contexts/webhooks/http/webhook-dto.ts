import { CONTROL_CHARACTERS } from '../../../kernel/text.js';
import { DAY_MS } from '../../../kernel/clock.js';
import { Fault } from '../../../kernel/fault.js';
import {
  ApiProperty,
  Field,
  Many,
  Nested,
  ResourceOf,
  type FieldOptions,
  type Rule,
} from '../../../platform/dto/field.js';
import { queryInstant } from '../../../platform/dto/date-point.js';
import { integer, oneOf, text, instant, TIME, UUID } from '../../../platform/dto/rules.js';
import { EVENT_TYPES, type EventType } from '../domain/event-types.js';
import { DESCRIPTION_LIMIT, ENDPOINT_STATUSES, type EndpointStatus } from '../domain/webhook-endpoints.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { createdListQuery, Filter } from '../../../platform/http/list-query.js';
import { DELIVERY_STATUSES, type DeliveryStatus } from '../domain/retry.js';
import { WebhookDeliveryDetail } from './delivery-dto.js';
import { WebhookDelivery } from '../views/delivery-page.js';
import { WebhookEndpoint, WebhookEndpointStats, WebhookEndpointWithSecret } from './endpoint-dto.js';

/** The longest that a replaced signing secret may sign alongside the fresh one: 24 hours. */
const OVERLAP_LIMIT_SECONDS = 86_400;

const DESCRIPTION_FAULT = new Fault(
  `must be a string of at most ${DESCRIPTION_LIMIT} characters without control characters`,
);
const descriptionRule: Rule = {
  schema: { type: 'string', maxLength: DESCRIPTION_LIMIT },
  read: (value) => {
    const fits = typeof value === 'string' && [...value].length <= DESCRIPTION_LIMIT;
    return fits && !CONTROL_CHARACTERS.test(value) ? value : DESCRIPTION_FAULT;
  },
};

/** One line of visible characters; the guard checks whether the address may be used. */
const urlRule = text({ format: 'uri' }, (value) =>
  /^[^\p{Cc}\p{Cs}\s]+$/u.test(value) ? value : new Fault('must be a valid URL'),
);

const eventTypesRule: Rule = {
  schema: {
    type: 'array',
    minItems: 1,
    uniqueItems: true,
    items: { type: 'string', enum: EVENT_TYPES },
  },
  read: (value) => {
    if (!Array.isArray(value)) return new Fault('must be an array of event types');
    if (value.length === 0) return new Fault('must name at least one event type');
    const unknown = value.findIndex((each) => !EVENT_TYPES.includes(each as EventType));
    if (unknown !== -1) return new Fault(`[${unknown}] must be one of ${EVENT_TYPES.join(', ')}`);
    const repeated = value.findIndex((each, index) => value.indexOf(each) !== index);
    return repeated === -1 ? value : new Fault(`[${repeated}] must not repeat another one`);
  },
};

const Url = (options: FieldOptions = {}): PropertyDecorator =>
  Field(urlRule, {
    ...options,
    description: 'An https:// URL at a public address; http:// and loopback only in sandbox mode.',
    examples: ['https://example.com/webhooks'],
  });
const maybe = { optional: true, nullable: true };
const Description = Field(descriptionRule, { ...maybe, description: 'A label; null clears it.' });
const EventTypes = Field(eventTypesRule, {
  ...maybe,
  description: 'Types that are delivered; null or absent means all but those of orders.',
});

class RegistrationFields {
  @Url() url!: string;

  @Description description?: string | null;

  @EventTypes event_types?: string[] | null;
}

/** Given at all, it is refused: a client that believes to have changed it would verify with the wrong one. */
const unchangeable: Rule = {
  schema: {},
  read: () => new Fault('cannot be changed here; POST .../rotate_secret replaces it'),
};

class ChangeFields {
  @Url({ optional: true }) url?: string;

  @Description description?: string | null;

  @EventTypes event_types?: string[] | null;

  @Field(oneOf(ENDPOINT_STATUSES), { optional: true }) status?: EndpointStatus;
  @Field(unchangeable, { optional: true, hidden: true }) signing_secret?: never;
}

/** Body of POST webhook_endpoints. */
export class NewWebhookEndpoint {
  @Nested(() => RegistrationFields) webhook_endpoint!: RegistrationFields;
}

/** Body of PATCH webhook_endpoints/{id}. */
export class WebhookEndpointChanges {
  @Nested(() => ChangeFields, { optional: true }) webhook_endpoint?: ChangeFields;
}

/** Body of POST webhook_endpoints/{id}/rotate_secret; it may be left out. */
export class SecretRotation {
  @Field(integer(0, OVERLAP_LIMIT_SECONDS), {
    optional: true,
    default: OVERLAP_LIMIT_SECONDS,
    description: 'How long the replaced secret signs too.',
  })
  overlap_seconds!: number;
}

/** The list of endpoints has no parameters. */
export class NoParameters {}

export class WebhookEndpointResponse extends ResourceOf('webhook_endpoint', WebhookEndpoint) {}

export class WebhookEndpointWithSecretResponse extends ResourceOf(
  'webhook_endpoint',
  WebhookEndpointWithSecret,
) {}

export class WebhookEndpointsResponse {
  @Many(() => WebhookEndpoint) webhook_endpoints!: readonly WebhookEndpoint[];
}

/** Deliveries on a page when `page_size` is not given. */
const DEFAULT_PAGE = 100;
const LONGEST_DAYS = 30;

/** Query of GET webhook_endpoints/{id}/deliveries. */
export class DeliveriesQuery extends createdListQuery(DEFAULT_PAGE, 'The most deliveries per page.') {
  @Filter(oneOf(DELIVERY_STATUSES), 'Only deliveries in this status.') status?: DeliveryStatus;
  @Filter(oneOf(EVENT_TYPES), 'Only deliveries of this type.') type?: EventType;
}

/** Query of GET webhook_endpoints/{id}/stats. */
export class StatsQuery {
  @Filter(
    queryInstant,
    `RFC 3339; 24 hours ago by default, at most ${LONGEST_DAYS} days ago, not in the future.`,
  )
  since?: Date;
}

/** Returns the start of the statistics. Throws `bad_request` when it is too long ago or in the future. */
export function statsSince({ since }: StatsQuery, now: Date): Date {
  if (since === undefined) return new Date(now.getTime() - DAY_MS);
  if (since > now) throw new DomainError('bad_request', 'since must not be in the future');
  if (now.getTime() - since.getTime() > LONGEST_DAYS * DAY_MS)
    throw new DomainError('bad_request', `since must lie within the last ${LONGEST_DAYS} days`);
  return since;
}

/** Body of POST webhook_endpoints/{id}/recover. */
export class RecoveryRequest {
  @Field(instant, { description: 'RFC 3339, not in the future.' }) since!: Date;
}

class WebhookRecovery {
  @ApiProperty(UUID) id!: string;
  @ApiProperty(UUID) webhook_endpoint_id!: string;
  @ApiProperty(TIME) since!: string;
  @ApiProperty(TIME) requested_at!: string;
}

/** `data` of `webhook_endpoint.test`. */
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
