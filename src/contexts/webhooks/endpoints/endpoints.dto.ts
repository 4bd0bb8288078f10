import { CONTROL_CHARACTERS } from '../../../kernel/text.js';
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
import { integer, oneOf, text } from '../../../platform/dto/rules.js';
import { EVENT_TYPES, type EventType } from './event-types.js';
import { DESCRIPTION_LIMIT, ENDPOINT_STATUSES, type EndpointStatus } from './webhook-endpoints.js';
import { WebhookEndpoint } from './endpoints.view.js';

/** The endpoint with its secret, only in responses to registration and rotation. */
class WebhookEndpointWithSecret extends WebhookEndpoint {
  @ApiProperty({ type: 'string', pattern: '^whsec_[A-Za-z0-9+/]{43}=$' }) signing_secret!: string;
}

/** The longest time for which a replaced signing secret may sign alongside the fresh one. */
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

/** Checks only the characters of a URL; the address guard checks the host. */
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

/** Refuses a signing secret, because a client that assumes a change would verify with the wrong secret. */
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

export class NewWebhookEndpoint {
  @Nested(() => RegistrationFields) webhook_endpoint!: RegistrationFields;
}

export class WebhookEndpointChanges {
  @Nested(() => ChangeFields, { optional: true }) webhook_endpoint?: ChangeFields;
}

export class SecretRotation {
  @Field(integer(0, OVERLAP_LIMIT_SECONDS), {
    optional: true,
    default: OVERLAP_LIMIT_SECONDS,
    description: 'How long the replaced secret signs too.',
  })
  overlap_seconds!: number;
}

export class NoParameters {}

export class WebhookEndpointResponse extends ResourceOf('webhook_endpoint', WebhookEndpoint) {}

export class WebhookEndpointWithSecretResponse extends ResourceOf(
  'webhook_endpoint',
  WebhookEndpointWithSecret,
) {}

export class WebhookEndpointsResponse {
  @Many(() => WebhookEndpoint) webhook_endpoints!: readonly WebhookEndpoint[];
}
