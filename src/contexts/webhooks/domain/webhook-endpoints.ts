import type { Aggregate, DomainEvent } from '../../../kernel/aggregate.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { requireIdempotent } from '../../../kernel/idempotency.js';

/** Failures are counted no further: a response costs the same however many there are. */
export const FAILURE_COUNT_LIMIT = 1000;

/** Endpoints a merchant may have (contract.md 12.5). */
export const ENDPOINT_LIMIT = 10;
/** Code points a description may have (contract.md 12). */
export const DESCRIPTION_LIMIT = 255;
/** Replaced secrets of an endpoint that may sign alongside the present one. */
export const FORMER_SECRETS_LIMIT = 4;
/** Rotations that are known again when their request is repeated. */
const REMEMBERED_ROTATIONS = 100;

export const ENDPOINT_STATUSES = ['enabled', 'disabled'] as const;
export type EndpointStatus = (typeof ENDPOINT_STATUSES)[number];
/** Why an endpoint is disabled: by PATCH, because its receiver responded with 410, or because it kept failing. */
export type DisableCause = 'merchant' | 'gone' | 'failing';

export interface EndpointRef {
  readonly endpoint_id: string;
  readonly merchant_id: string;
}

/** ISO 8601 in UTC, as all times here. */
interface At extends EndpointRef {
  readonly at: string;
}

export interface EndpointFields {
  readonly url: string;
  readonly description: string | null;
  /** Types that it receives; null means all but those that have to be listed. */
  readonly event_types: readonly string[] | null;
}

export interface Register extends EndpointRef, EndpointFields {
  readonly sealed_signing_secret: string;
  readonly created_at: string;
}

export interface RotateSecret extends At {
  /** The same for every repeat of one request. */
  readonly rotation_id: string;
  readonly sealed_signing_secret: string;
  /** How long the replaced secret signs alongside the fresh one; no later than `at`: not at all. */
  readonly former_expires_at: string;
}

export type WebhookEndpointEvent =
  | DomainEvent<'webhook_endpoint.registered.v1', Register>
  | DomainEvent<'webhook_endpoint.updated.v1', EndpointRef & EndpointFields & { readonly updated_at: string }>
  | DomainEvent<'webhook_endpoint.enabled.v1', At>
  | DomainEvent<'webhook_endpoint.disabled.v1', At & { readonly cause: DisableCause }>
  | DomainEvent<'webhook_endpoint.secret_rotated.v1', RotateSecret>
  | DomainEvent<'webhook_endpoint.deleted.v1', At>;

/** Stored names of all events of a registry. */
export const WEBHOOK_ENDPOINT_EVENTS = [
  'webhook_endpoint.registered.v1',
  'webhook_endpoint.updated.v1',
  'webhook_endpoint.enabled.v1',
  'webhook_endpoint.disabled.v1',
  'webhook_endpoint.secret_rotated.v1',
  'webhook_endpoint.deleted.v1',
] as const satisfies readonly WebhookEndpointEvent['type'][];

/** A signing secret of an endpoint, present or former. */
interface SigningSecret {
  /** The rotation that created it; null for the secret of the registration. */
  readonly rotationId: string | null;
  readonly sealed: string;
  readonly madeAt: string;
  /** When it stops signing; null for the present one. */
  readonly expiresAt: string | null;
}

/** One endpoint as its registry knows it. */
export interface Endpoint {
  readonly id: string;
  readonly url: string;
  readonly description: string | null;
  readonly eventTypes: readonly string[] | null;
  /** Newest first: the first one is the present one, the last one that of the registration. */
  readonly secrets: readonly SigningSecret[];
  readonly status: EndpointStatus;
  /** When it was enabled last; failures before count no more (contract.md 15.4). */
  readonly enabledAt: string;
  readonly disabledCause: DisableCause | null;
  readonly disabledAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** All endpoints of one merchant: one stream, so that the limit of ten holds under any race. */
export interface WebhookEndpoints {
  readonly byId: ReadonlyMap<string, Endpoint>;
}

export const webhookEndpoints: Aggregate<WebhookEndpoints, WebhookEndpointEvent> = {
  category: 'webhook_endpoints',
  initial: { byId: new Map() },
  snapshots: {
    version: 1,
    events: WEBHOOK_ENDPOINT_EVENTS,
    pack: ({ byId }) => [...byId.values()],
    unpack: (packed) => ({ byId: new Map((packed as Endpoint[]).map((each) => [each.id, each])) }),
  },
  evolve: (state, event) => {
    const { endpoint_id: id } = event.data;
    switch (event.type) {
      case 'webhook_endpoint.registered.v1': {
        const { url, description, event_types, sealed_signing_secret: sealed, created_at } = event.data;
        return put(state, {
          id,
          url,
          description,
          eventTypes: event_types,
          secrets: [{ rotationId: null, sealed, madeAt: created_at, expiresAt: null }],
          status: 'enabled',
          enabledAt: created_at,
          disabledCause: null,
          disabledAt: null,
          createdAt: created_at,
          updatedAt: created_at,
        });
      }
      case 'webhook_endpoint.updated.v1': {
        const { url, description, event_types: eventTypes, updated_at: updatedAt } = event.data;
        return change(state, id, { url, description, eventTypes, updatedAt });
      }
      case 'webhook_endpoint.enabled.v1': {
        const { at } = event.data;
        const enabled = { status: 'enabled', disabledCause: null, disabledAt: null } as const;
        return change(state, id, { ...enabled, enabledAt: at, updatedAt: at });
      }
      case 'webhook_endpoint.disabled.v1': {
        const { cause: disabledCause, at } = event.data;
        return change(state, id, { status: 'disabled', disabledCause, disabledAt: at, updatedAt: at });
      }
      case 'webhook_endpoint.secret_rotated.v1': {
        const secrets = rotated(state.byId.get(id)?.secrets ?? [], event.data);
        return change(state, id, { secrets, updatedAt: event.data.at });
      }
      case 'webhook_endpoint.deleted.v1':
        return { byId: new Map([...state.byId].filter(([each]) => each !== id)) };
      default:
        event satisfies never;
        return state;
    }
  },
};

function put(state: WebhookEndpoints, endpoint: Endpoint): WebhookEndpoints {
  return { byId: new Map(state.byId).set(endpoint.id, endpoint) };
}

function change(state: WebhookEndpoints, id: string, to: Partial<Endpoint>): WebhookEndpoints {
  const endpoint = state.byId.get(id);
  return endpoint ? put(state, { ...endpoint, ...to }) : state;
}

/** Of the replaced secrets those stay that still sign, that of the registration, and those of rotations that may be repeated. */
function rotated(secrets: readonly SigningSecret[], rotation: RotateSecret): readonly SigningSecret[] {
  const { rotation_id: rotationId, sealed_signing_secret: sealed, former_expires_at, at } = rotation;
  const former = secrets.map((each, index) =>
    index === 0 ? { ...each, expiresAt: former_expires_at } : each,
  );
  return [{ rotationId, sealed, madeAt: at, expiresAt: null }, ...former].filter(
    (each, index) => index <= REMEMBERED_ROTATIONS || each.rotationId === null || (each.expiresAt ?? at) > at,
  );
}

/** The endpoint, or the contract's 404. */
export function endpointOf(state: WebhookEndpoints, id: string): Endpoint {
  const endpoint = state.byId.get(id);
  if (!endpoint) throw DomainError.notFound('Webhook endpoint');
  return endpoint;
}

/**
 * A repeat of the request that registered this endpoint changes nothing; throws IdempotencyKeyExpired when it comes too late. An
 * eleventh endpoint is 422.
 */
export function register(command: Register, state: WebhookEndpoints): WebhookEndpointEvent[] {
  const registered = state.byId.get(command.endpoint_id);
  if (registered) {
    requireIdempotent(registered.createdAt, command.created_at);
    return [];
  }
  if (state.byId.size >= ENDPOINT_LIMIT) {
    throw DomainError.invalid({
      webhook_endpoint: [`must be one of at most ${ENDPOINT_LIMIT} per merchant`],
    }).asTransient();
  }
  return [{ type: 'webhook_endpoint.registered.v1', data: command }];
}

export interface Update extends At {
  /** What is absent stays as it is. */
  readonly changes: Partial<EndpointFields> & { readonly status?: EndpointStatus };
}

/** Only what differs becomes an event: an empty or repeated PATCH changes nothing. */
export function update(command: Update, state: WebhookEndpoints): WebhookEndpointEvent[] {
  const { endpoint_id, merchant_id, changes, at } = command;
  const { url, description, eventTypes, status } = endpointOf(state, endpoint_id);
  const before = { url, description, event_types: eventTypes };
  const fields = {
    url: changes.url ?? url,
    description: changes.description === undefined ? description : changes.description,
    event_types: changes.event_types === undefined ? eventTypes : changes.event_types,
  };
  const events: WebhookEndpointEvent[] = [];
  if (JSON.stringify(fields) !== JSON.stringify(before)) {
    const data = { endpoint_id, merchant_id, ...fields, updated_at: at };
    events.push({ type: 'webhook_endpoint.updated.v1', data });
  }
  if (changes.status === 'disabled')
    events.push(...disable({ endpoint_id, merchant_id, cause: 'merchant', at }, state));
  if (changes.status === 'enabled' && status === 'disabled')
    events.push({ type: 'webhook_endpoint.enabled.v1', data: { endpoint_id, merchant_id, at } });
  return events;
}

/** Disabling what is disabled already, or gone, changes nothing: two deliveries may both be responded to with 410. */
function disable(
  command: At & { readonly cause: DisableCause },
  state: WebhookEndpoints,
): WebhookEndpointEvent[] {
  if (state.byId.get(command.endpoint_id)?.status !== 'enabled') return [];
  return [{ type: 'webhook_endpoint.disabled.v1', data: command }];
}

interface DisableGone extends At {
  /** Where the attempt went whose response was 410, and when it began. */
  readonly attempted_url: string;
  readonly attempted_at: string;
}

/** A merchant who moved or enabled the endpoint while the attempt was in flight is not overruled by its response. */
export function disableGone(command: DisableGone, state: WebhookEndpoints): WebhookEndpointEvent[] {
  const { attempted_url, attempted_at, ...rest } = command;
  const endpoint = state.byId.get(command.endpoint_id);
  if (endpoint?.url !== attempted_url || attempted_at < endpoint.enabledAt) return [];
  return disable({ ...rest, cause: 'gone' }, state);
}

interface DisableFailing extends At {
  /** When the oldest of the failed attempts began that were counted. */
  readonly failing_since: string;
}

/** Failures count only since the endpoint was enabled: a merchant who did that in between keeps it enabled. */
export function disableFailing(command: DisableFailing, state: WebhookEndpoints): WebhookEndpointEvent[] {
  const { failing_since, ...rest } = command;
  const enabledAt = state.byId.get(command.endpoint_id)?.enabledAt;
  if (enabledAt === undefined || failing_since <= enabledAt) return [];
  return disable({ ...rest, cause: 'failing' }, state);
}

/** Only in the sandbox: as if its deliveries had kept failing. */
export function breakEndpoint(command: At, state: WebhookEndpoints): WebhookEndpointEvent[] {
  endpointOf(state, command.endpoint_id);
  return disable({ ...command, cause: 'failing' }, state);
}

/** A repeat of a rotation changes nothing; throws IdempotencyKeyExpired when it comes too late. A fifth replaced secret that would sign as well is refused. */
export function rotateSecret(command: RotateSecret, state: WebhookEndpoints): WebhookEndpointEvent[] {
  const { secrets } = endpointOf(state, command.endpoint_id);
  const done = secrets.find(({ rotationId }) => rotationId === command.rotation_id);
  if (done) {
    requireIdempotent(done.madeAt, command.at);
    return [];
  }
  const former = secrets.filter(({ expiresAt }) => expiresAt !== null && expiresAt > command.at);
  if (command.former_expires_at > command.at && former.length >= FORMER_SECRETS_LIMIT) {
    throw new DomainError(
      'invalid_transition',
      `${FORMER_SECRETS_LIMIT} former secrets of the webhook endpoint are still valid; wait until one expires`,
    );
  }
  return [{ type: 'webhook_endpoint.secret_rotated.v1', data: command }];
}

export function remove(command: At, state: WebhookEndpoints): WebhookEndpointEvent[] {
  endpointOf(state, command.endpoint_id);
  return [{ type: 'webhook_endpoint.deleted.v1', data: command }];
}

export type EndpointJson = ReturnType<typeof endpointJson>;

/** A WebhookEndpoint as the API returns it (contract.md 12), and extensions. */
export function endpointJson(endpoint: Omit<Endpoint, 'secrets' | 'enabledAt'>, failure_count: number) {
  return {
    id: endpoint.id,
    url: endpoint.url,
    description: endpoint.description,
    status: endpoint.status,
    created_at: endpoint.createdAt,
    updated_at: endpoint.updatedAt,
    event_types: endpoint.eventTypes,
    failure_count,
    disabled_cause: endpoint.disabledCause,
    disabled_at: endpoint.disabledAt,
  };
}

/** Types that an endpoint receives only when it lists them (contract.md 13.9): what all types are to others stays as it is. */
export const LISTED_TYPES = [
  'order.completed',
  'order.failed',
  'order.refundable',
  'order.refunded',
] as const;

/** Types of the event catalog (contract.md 13.5 and 13.9), the only values an endpoint may subscribe to. */
export const EVENT_TYPES = [
  'user.onboarding_started',
  'user.kyc_submitted',
  'user.kyc_passed',
  'user.kyc_failed',
  'user.onboarding_completed',
  'payout.received',
  'payout.failed',
  'webhook_endpoint.test',
  ...LISTED_TYPES,
] as const;

/** Whether an endpoint with these types receives the type; null: it lists none. */
export function receives(eventTypes: readonly string[] | null, type: EventType): boolean {
  return eventTypes?.includes(type) ?? !LISTED_TYPES.some((listed) => listed === type);
}

/** Of deliveries that a merchant requested, to try an endpoint: no context publishes it. */
export const TEST_TYPE = 'webhook_endpoint.test' satisfies EventType;

export type EventType = (typeof EVENT_TYPES)[number];
