import type { Aggregate, DomainEvent } from '../../../kernel/aggregate.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { requireIdempotent } from '../../../kernel/idempotency.js';

/** The highest failure count, which bounds the time of counting. */
export const FAILURE_COUNT_LIMIT = 1000;
/** The limit of endpoints per merchant (contract.md 12.5). */
export const ENDPOINT_LIMIT = 10;
/** The limit of a description, in code points (contract.md 12). */
export const DESCRIPTION_LIMIT = 255;
/** The limit of replaced secrets that may sign alongside the present one. */
export const FORMER_SECRETS_LIMIT = 4;
/** The number of rotations whose repeats are recognised. */
const REMEMBERED_ROTATIONS = 100;

export const ENDPOINT_STATUSES = ['enabled', 'disabled'] as const;
export type EndpointStatus = (typeof ENDPOINT_STATUSES)[number];
/** The causes of a disabled endpoint: a PATCH, a response with 410, or sustained failures. */
export const DISABLE_CAUSES = ['merchant', 'gone', 'failing'] as const;
export type DisableCause = (typeof DISABLE_CAUSES)[number];

export interface EndpointRef {
  readonly endpoint_id: string;
  readonly merchant_id: string;
}

/** The data of a command or event. Times are ISO 8601 in UTC. */
interface At extends EndpointRef {
  readonly at: string;
}

export interface EndpointFields {
  readonly url: string;
  readonly description: string | null;
  /** The types that the endpoint receives; null means all but LISTED_TYPES. */
  readonly event_types: readonly string[] | null;
}

export interface Register extends EndpointRef, EndpointFields {
  readonly sealed_signing_secret: string;
  readonly created_at: string;
}

export interface RotateSecret extends At {
  /** The id of the rotation, equal for all repeats of one request. */
  readonly rotation_id: string;
  readonly sealed_signing_secret: string;
  /** The time until which the replaced secret also signs. A time up to `at` ends its use at once. */
  readonly former_expires_at: string;
}

export type WebhookEndpointEvent =
  | DomainEvent<'webhook_endpoint.registered.v1', Register>
  | DomainEvent<'webhook_endpoint.updated.v1', EndpointRef & EndpointFields & { readonly updated_at: string }>
  | DomainEvent<'webhook_endpoint.enabled.v1', At>
  | DomainEvent<'webhook_endpoint.disabled.v1', At & { readonly cause: DisableCause }>
  | DomainEvent<'webhook_endpoint.secret_rotated.v1', RotateSecret>
  | DomainEvent<'webhook_endpoint.deleted.v1', At>;

export const WEBHOOK_ENDPOINT_EVENTS = [
  'webhook_endpoint.registered.v1',
  'webhook_endpoint.updated.v1',
  'webhook_endpoint.enabled.v1',
  'webhook_endpoint.disabled.v1',
  'webhook_endpoint.secret_rotated.v1',
  'webhook_endpoint.deleted.v1',
] as const satisfies readonly WebhookEndpointEvent['type'][];

interface FormerSecret {
  readonly sealed: string;
  readonly expires_at: string;
}

export interface Endpoint extends EndpointRef, EndpointFields {
  readonly sealed_signing_secret: string;
  /** The replaced secrets that may still sign, newest first. */
  readonly former_secrets: readonly FormerSecret[];
  readonly status: EndpointStatus | 'deleted';
  readonly disabled_cause: DisableCause | null;
  readonly disabled_at: string | null;
  /** The time of the last enabling. Attempts that began earlier are no failures (contract.md 15.4). */
  readonly failures_since: string;
  readonly created_at: string;
  readonly updated_at: string;
}

const ENABLED = { status: 'enabled', disabled_cause: null, disabled_at: null } as const;

export function evolveEndpoint(
  endpoint: Endpoint | undefined,
  event: WebhookEndpointEvent,
): Endpoint | undefined {
  if (event.type === 'webhook_endpoint.registered.v1') {
    const { created_at } = event.data;
    const times = { failures_since: created_at, updated_at: created_at };
    return { ...event.data, ...ENABLED, former_secrets: [], ...times };
  }
  if (!endpoint) return undefined;
  switch (event.type) {
    case 'webhook_endpoint.updated.v1':
      return { ...endpoint, ...event.data };
    case 'webhook_endpoint.enabled.v1':
      return { ...endpoint, ...ENABLED, failures_since: event.data.at, updated_at: event.data.at };
    case 'webhook_endpoint.disabled.v1': {
      const { cause: disabled_cause, at } = event.data;
      return { ...endpoint, status: 'disabled', disabled_cause, disabled_at: at, updated_at: at };
    }
    case 'webhook_endpoint.secret_rotated.v1': {
      const { sealed_signing_secret, former_expires_at, at } = event.data;
      const replaced = { sealed: endpoint.sealed_signing_secret, expires_at: former_expires_at };
      const former_secrets = [replaced, ...endpoint.former_secrets].filter((each) => each.expires_at > at);
      return { ...endpoint, sealed_signing_secret, former_secrets, updated_at: at };
    }
    case 'webhook_endpoint.deleted.v1':
      return { ...endpoint, status: 'deleted', updated_at: event.data.at };
    default:
      event satisfies never;
      return endpoint;
  }
}

/** A secret that a request created, kept for repeats of the request. */
interface EndpointSecret {
  /** The rotation; null for the secret of the registration. */
  readonly rotation_id: string | null;
  readonly sealed: string;
  readonly at: string;
}

interface RegistryEndpoint extends Endpoint {
  /** The secrets, from the newest to the secret of the registration. */
  readonly secrets: readonly EndpointSecret[];
}

/** All endpoints of one merchant. They share a stream, so that ENDPOINT_LIMIT holds under any race. */
export interface WebhookEndpoints {
  readonly byId: ReadonlyMap<string, RegistryEndpoint>;
}

export const webhookEndpoints: Aggregate<WebhookEndpoints, WebhookEndpointEvent> = {
  category: 'webhook_endpoints',
  initial: { byId: new Map() },
  snapshots: {
    version: 2,
    events: WEBHOOK_ENDPOINT_EVENTS,
    pack: ({ byId }) => [...byId.values()],
    unpack: (packed) => ({
      byId: new Map((packed as RegistryEndpoint[]).map((each) => [each.endpoint_id, each])),
    }),
  },
  evolve: (state, event) => {
    const before = state.byId.get(event.data.endpoint_id);
    const after = evolveEndpoint(before, event);
    if (after === undefined || after === before) return state;
    const byId = new Map(state.byId);
    if (after.status === 'deleted') byId.delete(after.endpoint_id);
    else byId.set(after.endpoint_id, { ...after, secrets: secretsAfter(before?.secrets ?? [], event) });
    return { byId };
  },
};

function secretsAfter(
  secrets: readonly EndpointSecret[],
  event: WebhookEndpointEvent,
): readonly EndpointSecret[] {
  if (event.type === 'webhook_endpoint.registered.v1')
    return [{ rotation_id: null, sealed: event.data.sealed_signing_secret, at: event.data.created_at }];
  if (event.type !== 'webhook_endpoint.secret_rotated.v1') return secrets;
  const { rotation_id, sealed_signing_secret: sealed, at } = event.data;
  return [{ rotation_id, sealed, at }, ...secrets].filter(
    (each, place) => place <= REMEMBERED_ROTATIONS || each.rotation_id === null,
  );
}

export function findEndpoint(state: WebhookEndpoints, id: string): RegistryEndpoint {
  const endpoint = state.byId.get(id);
  if (!endpoint) throw DomainError.notFound('Webhook endpoint');
  return endpoint;
}

/** Registers an endpoint. A repeat returns no event, or throws IdempotencyKeyExpired if it is too late. */
export function register(command: Register, state: WebhookEndpoints): WebhookEndpointEvent[] {
  const registered = state.byId.get(command.endpoint_id);
  if (registered) {
    requireIdempotent(registered.created_at, command.created_at);
    return [];
  }
  if (state.byId.size >= ENDPOINT_LIMIT) {
    throw DomainError.invalid({
      webhook_endpoint: [`cannot be added: a merchant has at most ${ENDPOINT_LIMIT}`],
    }).asTransient();
  }
  return [{ type: 'webhook_endpoint.registered.v1', data: command }];
}

export interface Update extends At {
  /** The fields to change; absent fields remain unchanged. */
  readonly changes: Partial<EndpointFields> & { readonly status?: EndpointStatus };
  /** The cause of disabling the endpoint; `merchant` by default. Only the sandbox sets another cause. */
  readonly cause?: DisableCause;
}

/** Changes an endpoint. An empty or repeated PATCH returns no event. */
export function update(command: Update, state: WebhookEndpoints): WebhookEndpointEvent[] {
  const { endpoint_id, merchant_id, changes, cause = 'merchant', at } = command;
  const { url, description, event_types, status } = findEndpoint(state, endpoint_id);
  const before = { url, description, event_types };
  const fields = {
    url: changes.url ?? url,
    description: changes.description === undefined ? description : changes.description,
    event_types: changes.event_types === undefined ? event_types : changes.event_types,
  };
  const events: WebhookEndpointEvent[] = [];
  if (JSON.stringify(fields) !== JSON.stringify(before)) {
    const data = { endpoint_id, merchant_id, ...fields, updated_at: at };
    events.push({ type: 'webhook_endpoint.updated.v1', data });
  }
  if (changes.status === 'disabled') events.push(...disable({ endpoint_id, merchant_id, cause, at }, state));
  if (changes.status === 'enabled' && status === 'disabled')
    events.push({ type: 'webhook_endpoint.enabled.v1', data: { endpoint_id, merchant_id, at } });
  return events;
}

/** Disables an enabled endpoint. Otherwise returns no event, because two deliveries may receive a 410. */
export function disable(
  command: At & { readonly cause: DisableCause },
  state: WebhookEndpoints,
): WebhookEndpointEvent[] {
  if (state.byId.get(command.endpoint_id)?.status !== 'enabled') return [];
  return [{ type: 'webhook_endpoint.disabled.v1', data: command }];
}

/** The reason for which the service disables an endpoint. Times are ISO 8601. */
export type DisableReason =
  | {
      readonly cause: 'gone';
      readonly delivery_id: string;
      readonly attempted_url: string;
      readonly attempted_at: string;
    }
  | { readonly cause: 'failing'; readonly failing_since: string };

/** Disables the endpoint, unless it was enabled after the failure began or, for a 410, has a new URL. */
export function disableAutomatically(
  { reason, ...command }: At & { readonly reason: DisableReason },
  state: WebhookEndpoints,
): WebhookEndpointEvent[] {
  const endpoint = state.byId.get(command.endpoint_id);
  if (endpoint === undefined) return [];
  const isOutdated =
    reason.cause === 'gone'
      ? reason.attempted_url !== endpoint.url || reason.attempted_at < endpoint.failures_since
      : reason.failing_since <= endpoint.failures_since;
  return isOutdated ? [] : disable({ ...command, cause: reason.cause }, state);
}

/** Replaces the secret. A repeat returns no event, or throws IdempotencyKeyExpired if it is too late. */
export function rotateSecret(command: RotateSecret, state: WebhookEndpoints): WebhookEndpointEvent[] {
  const { secrets, former_secrets } = findEndpoint(state, command.endpoint_id);
  const done = secrets.find(({ rotation_id }) => rotation_id === command.rotation_id);
  if (done) {
    requireIdempotent(done.at, command.at);
    return [];
  }
  const former = former_secrets.filter(({ expires_at }) => expires_at > command.at);
  if (command.former_expires_at > command.at && former.length >= FORMER_SECRETS_LIMIT) {
    throw new DomainError(
      'invalid_transition',
      `${FORMER_SECRETS_LIMIT} former secrets of the webhook endpoint are still valid; wait until one expires`,
    );
  }
  return [{ type: 'webhook_endpoint.secret_rotated.v1', data: command }];
}

export function remove(command: At, state: WebhookEndpoints): WebhookEndpointEvent[] {
  findEndpoint(state, command.endpoint_id);
  return [{ type: 'webhook_endpoint.deleted.v1', data: command }];
}
