import type { Aggregate } from '../../../kernel/aggregate.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { requireRepeatable } from '../../../kernel/repeats.js';
import type { DisableCause } from '../contract.js';
import { keptSecrets } from './kept-secrets.js';

/** Endpoints a merchant may have (contract.md 12.5). */
export const ENDPOINT_LIMIT = 10;
/** Replaced secrets of an endpoint that may sign beside the present one. */
export const FORMER_SECRETS_LIMIT = 4;

interface Of {
  readonly endpoint_id: string;
  readonly merchant_id: string;
}

export type WebhookEndpointEvent =
  | {
      readonly type: 'webhook_endpoint.registered.v1';
      readonly data: Of & {
        readonly url: string;
        readonly description: string | null;
        /** Types it wants; null means all. */
        readonly event_types: readonly string[] | null;
        readonly sealed_signing_secret: string;
        readonly created_at: string;
      };
    }
  | {
      readonly type: 'webhook_endpoint.updated.v1';
      readonly data: Of & {
        readonly url: string;
        readonly description: string | null;
        readonly event_types: readonly string[] | null;
        readonly updated_at: string;
      };
    }
  | { readonly type: 'webhook_endpoint.enabled.v1'; readonly data: Of & { readonly at: string } }
  | {
      readonly type: 'webhook_endpoint.disabled.v1';
      readonly data: Of & { readonly cause: DisableCause; readonly at: string };
    }
  | { readonly type: 'webhook_endpoint.secret_rotated.v1'; readonly data: RotateSecret }
  | { readonly type: 'webhook_endpoint.deleted.v1'; readonly data: Of & { readonly at: string } };

/** Stored names of all events of a registry. */
export const WEBHOOK_ENDPOINT_EVENTS = [
  'webhook_endpoint.registered.v1',
  'webhook_endpoint.updated.v1',
  'webhook_endpoint.enabled.v1',
  'webhook_endpoint.disabled.v1',
  'webhook_endpoint.secret_rotated.v1',
  'webhook_endpoint.deleted.v1',
] as const satisfies readonly WebhookEndpointEvent['type'][];

export type EndpointStatus = 'enabled' | 'disabled';

/** A signing secret of an endpoint, present or former. */
export interface SigningSecret {
  /** The rotation that made it; null for the secret of the registration. */
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
    const { data } = event;
    switch (event.type) {
      case 'webhook_endpoint.registered.v1':
        return put(state, {
          id: data.endpoint_id,
          url: event.data.url,
          description: event.data.description,
          eventTypes: event.data.event_types,
          secrets: [
            {
              ...{ rotationId: null, sealed: event.data.sealed_signing_secret },
              ...{ madeAt: event.data.created_at, expiresAt: null },
            },
          ],
          status: 'enabled',
          enabledAt: event.data.created_at,
          disabledCause: null,
          disabledAt: null,
          createdAt: event.data.created_at,
          updatedAt: event.data.created_at,
        });
      case 'webhook_endpoint.updated.v1': {
        const { url, description, event_types, updated_at } = event.data;
        return change(state, data.endpoint_id, {
          url,
          description,
          eventTypes: event_types,
          updatedAt: updated_at,
        });
      }
      case 'webhook_endpoint.enabled.v1':
        return change(state, data.endpoint_id, {
          ...{ status: 'enabled', enabledAt: event.data.at, updatedAt: event.data.at },
          ...{ disabledCause: null, disabledAt: null },
        });
      case 'webhook_endpoint.disabled.v1':
        return change(state, data.endpoint_id, {
          ...{ status: 'disabled', updatedAt: event.data.at },
          ...{ disabledCause: event.data.cause, disabledAt: event.data.at },
        });
      case 'webhook_endpoint.secret_rotated.v1':
        return rotate(state, event.data);
      case 'webhook_endpoint.deleted.v1':
        return { byId: new Map([...state.byId].filter(([id]) => id !== data.endpoint_id)) };
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

function rotate(state: WebhookEndpoints, rotation: RotateSecret): WebhookEndpoints {
  const [present, ...former] = state.byId.get(rotation.endpoint_id)?.secrets ?? [];
  if (!present) return state;
  const { rotation_id: rotationId, sealed_signing_secret: sealed, at: madeAt } = rotation;
  const fresh = { rotationId, sealed, madeAt, expiresAt: null };
  const replaced = { ...present, expiresAt: rotation.former_expires_at };
  return change(state, rotation.endpoint_id, {
    secrets: keptSecrets([fresh, replaced, ...former], rotation.at),
    updatedAt: rotation.at,
  });
}

/** The endpoint, or the contract's 404. */
export function endpointOf(state: WebhookEndpoints, id: string): Endpoint {
  const endpoint = state.byId.get(id);
  if (!endpoint) throw DomainError.notFound('Webhook endpoint');
  return endpoint;
}

export interface Register extends Of {
  readonly url: string;
  readonly description: string | null;
  readonly event_types: readonly string[] | null;
  readonly sealed_signing_secret: string;
  readonly created_at: string;
}

/**
 * A repeat of the request that registered this endpoint changes nothing; throws KeyOutlived when it comes too late. An
 * eleventh endpoint is 422.
 */
export function register(command: Register, state: WebhookEndpoints): WebhookEndpointEvent[] {
  const registered = state.byId.get(command.endpoint_id);
  if (registered) {
    requireRepeatable(registered.createdAt, command.created_at);
    return [];
  }
  if (state.byId.size >= ENDPOINT_LIMIT) {
    throw DomainError.invalid({
      webhook_endpoint: [`must be one of at most ${ENDPOINT_LIMIT} per merchant`],
    });
  }
  return [{ type: 'webhook_endpoint.registered.v1', data: command }];
}

export interface Update extends Of {
  /** What is absent stays as it is. */
  readonly changes: {
    readonly url?: string;
    readonly description?: string | null;
    readonly event_types?: readonly string[] | null;
    readonly status?: EndpointStatus;
  };
  readonly at: string;
}

/** Only what differs becomes an event: an empty or repeated PATCH changes nothing. */
export function update(command: Update, state: WebhookEndpoints): WebhookEndpointEvent[] {
  const { endpoint_id, merchant_id, changes, at } = command;
  const endpoint = endpointOf(state, endpoint_id);
  const fields = {
    url: changes.url ?? endpoint.url,
    description: changes.description === undefined ? endpoint.description : changes.description,
    event_types: changes.event_types === undefined ? endpoint.eventTypes : changes.event_types,
  };
  const events: WebhookEndpointEvent[] = [];
  if (
    fields.url !== endpoint.url ||
    fields.description !== endpoint.description ||
    !sameTypes(fields.event_types, endpoint.eventTypes)
  ) {
    events.push({
      type: 'webhook_endpoint.updated.v1',
      data: { endpoint_id, merchant_id, ...fields, updated_at: at },
    });
  }
  if (changes.status === 'disabled')
    events.push(...disable({ endpoint_id, merchant_id, cause: 'merchant', at }, state));
  if (changes.status === 'enabled' && endpoint.status === 'disabled') {
    events.push({ type: 'webhook_endpoint.enabled.v1', data: { endpoint_id, merchant_id, at } });
  }
  return events;
}

function sameTypes(a: readonly string[] | null, b: readonly string[] | null): boolean {
  if (a === null || b === null) return a === b;
  return a.length === b.length && a.every((type, index) => type === b[index]);
}

interface Disable extends Of {
  readonly cause: DisableCause;
  readonly at: string;
}

/** Disabling what is disabled already, or gone, changes nothing: two deliveries may both be answered with 410. */
function disable(command: Disable, state: WebhookEndpoints): WebhookEndpointEvent[] {
  if (state.byId.get(command.endpoint_id)?.status !== 'enabled') return [];
  return [{ type: 'webhook_endpoint.disabled.v1', data: command }];
}

export interface DisableGone extends Of {
  /** Where the attempt went that was answered with 410, and when it began. */
  readonly attempted_url: string;
  readonly attempted_at: string;
  readonly at: string;
}

/** A merchant who moved or enabled the endpoint while the attempt was under way is not overruled by its answer. */
export function disableGone(command: DisableGone, state: WebhookEndpoints): WebhookEndpointEvent[] {
  const { attempted_url, attempted_at, ...rest } = command;
  const endpoint = state.byId.get(command.endpoint_id);
  if (endpoint?.url !== attempted_url || attempted_at < endpoint.enabledAt) return [];
  return disable({ ...rest, cause: 'gone' }, state);
}

export interface DisableFailing extends Of {
  /** When the oldest of the failed attempts began that were counted. */
  readonly failing_since: string;
  readonly at: string;
}

/** Failures count only since the endpoint was enabled: a merchant who did that in between keeps it enabled. */
export function disableFailing(command: DisableFailing, state: WebhookEndpoints): WebhookEndpointEvent[] {
  const { failing_since, ...rest } = command;
  const enabledAt = state.byId.get(command.endpoint_id)?.enabledAt;
  if (enabledAt === undefined || failing_since <= enabledAt) return [];
  return disable({ ...rest, cause: 'failing' }, state);
}

export interface RotateSecret extends Of {
  /** The same for every repeat of one request. */
  readonly rotation_id: string;
  readonly sealed_signing_secret: string;
  /** How long the replaced secret signs beside the fresh one; no later than `at`: not at all. */
  readonly former_expires_at: string;
  readonly at: string;
}

/** A repeat of a rotation changes nothing; throws KeyOutlived when it comes too late. A fifth replaced secret that would sign as well is refused. */
export function rotateSecret(command: RotateSecret, state: WebhookEndpoints): WebhookEndpointEvent[] {
  const { secrets } = endpointOf(state, command.endpoint_id);
  const done = secrets.find(({ rotationId }) => rotationId === command.rotation_id);
  if (done) {
    requireRepeatable(done.madeAt, command.at);
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

export interface Remove extends Of {
  readonly at: string;
}

export function remove(command: Remove, state: WebhookEndpoints): WebhookEndpointEvent[] {
  endpointOf(state, command.endpoint_id);
  return [{ type: 'webhook_endpoint.deleted.v1', data: command }];
}
