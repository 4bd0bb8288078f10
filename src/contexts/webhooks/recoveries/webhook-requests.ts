import type { Aggregate, DomainEvent } from '../../../kernel/aggregate.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { onlyOnce } from '../../../kernel/history-rules.js';
import { requireIdempotent } from '../../../kernel/idempotency.js';
import {
  findEndpoint,
  type Endpoint,
  type EndpointRef,
  type WebhookEndpoints,
} from '../endpoints/webhook-endpoints.js';

/** A test delivery was requested (contract.md 12.10); `delivery_id` is its `webhook-id` header. */
export type WebhookTestRequested = DomainEvent<
  'webhook_endpoint.test_requested.v1',
  EndpointRef & { readonly delivery_id: string; readonly message: string; readonly occurred_at: string }
>;

/** A resend of a delivery was requested, under the same `webhook-id`. */
export type WebhookResendRequested = DomainEvent<
  'webhook_delivery.resend_requested.v1',
  EndpointRef & {
    readonly resend_id: string;
    readonly delivery_id: string;
    /** True for a test delivery, which goes to a disabled endpoint too. */
    readonly is_test: boolean;
    readonly requested_at: string;
  }
>;

/** A resend of all exhausted and dropped deliveries created at `since` or later was requested. */
export type WebhookRecoveryRequested = DomainEvent<
  'webhook_endpoint.recovery_requested.v1',
  EndpointRef & { readonly recovery_id: string; readonly since: string; readonly requested_at: string }
>;

export const TEST_MESSAGE = 'This is a test delivery.';

/**
 * Defines a request with a separate stream, so that the stream of endpoints stays short. The stream's id is
 * derived from the idempotency key, so that a repeat finds its event.
 */
function defineRequest<Event extends DomainEvent<string, EndpointRef>>(
  category: string,
  type: Event['type'],
  toTime: (data: Event['data']) => string,
  check: (data: Event['data'], endpoint: Endpoint) => void = () => undefined,
) {
  type State = Event['data'] | null;
  const aggregate: Aggregate<State, Event> = { category, initial: null, evolve: (_, { data }) => data };
  /** Returns no event for a repeat. Throws IdempotencyKeyExpired, or `not_found` for a deleted endpoint. */
  const request = (data: Event['data'], endpoints: WebhookEndpoints, state: State): Event[] => {
    if (state) {
      requireIdempotent(toTime(state), toTime(data));
      return [];
    }
    check(data, findEndpoint(endpoints, data.endpoint_id));
    return [{ type, data } as Event];
  };
  return { ...aggregate, request, rules: onlyOnce<Event>(category, type).rules };
}

export const webhookTest = defineRequest<WebhookTestRequested>(
  'webhook_test',
  'webhook_endpoint.test_requested.v1',
  ({ occurred_at }) => occurred_at,
);

export const webhookResend = defineRequest<WebhookResendRequested>(
  'webhook_resend',
  'webhook_delivery.resend_requested.v1',
  ({ requested_at }) => requested_at,
  ({ is_test }, { status }) => {
    if (status === 'disabled' && !is_test) throw endpointDisabled();
  },
);

export const webhookRecovery = defineRequest<WebhookRecoveryRequested>(
  'webhook_recovery',
  'webhook_endpoint.recovery_requested.v1',
  ({ requested_at }) => requested_at,
  ({ since, requested_at }, { status }) => {
    if (since > requested_at)
      throw DomainError.invalid({ since: ['must not be in the future'] }).asTransient();
    if (status === 'disabled') throw endpointDisabled();
  },
);

/** The rules of the requests, for audits. */
export const REQUEST_HISTORIES = [webhookTest.rules, webhookResend.rules, webhookRecovery.rules];

function endpointDisabled(): DomainError {
  return new DomainError('invalid_transition', 'The webhook endpoint is disabled');
}
