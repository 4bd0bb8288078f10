import type { Aggregate, DomainEvent } from '../../../kernel/aggregate.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { onlyOnce } from '../../../kernel/history-rules.js';
import { requireIdempotent } from '../../../kernel/idempotency.js';
import { findEndpoint, type EndpointRef, type WebhookEndpoints } from '../endpoints/webhook-endpoints.js';

/** A test delivery was requested (contract.md 12.10); `delivery_id` is its `webhook-id` header. */
export type WebhookTestRequested = DomainEvent<
  'webhook_endpoint.test_requested.v1',
  EndpointRef & { readonly delivery_id: string; readonly message: string; readonly occurred_at: string }
>;

/** Another round of a delivery was requested, under the same `webhook-id`. */
export type WebhookResendRequested = DomainEvent<
  'webhook_delivery.resend_requested.v1',
  EndpointRef & {
    readonly resend_id: string;
    readonly delivery_id: string;
    /** Test deliveries go to disabled endpoints too. */
    readonly is_test: boolean;
    readonly requested_at: string;
  }
>;

/** A resend was requested of all exhausted and dropped deliveries of an endpoint created at `since` or later. */
export type WebhookRecoveryRequested = DomainEvent<
  'webhook_endpoint.recovery_requested.v1',
  EndpointRef & { readonly recovery_id: string; readonly since: string; readonly requested_at: string }
>;

export const TEST_MESSAGE = 'This is a test delivery.';

/**
 * A stream with one request, whose id follows from the idempotency key, so that a repeat finds its event. The stream of
 * the endpoints stays short. The state is null before the request.
 */
function request<Event extends DomainEvent>(category: string, type: Event['type']) {
  type State = Event['data'] | null;
  const aggregate: Aggregate<State, Event> = { category, initial: null, evolve: (_, { data }) => data };
  return { ...aggregate, rules: onlyOnce<Event>(category, type).rules };
}

export const webhookTest = request<WebhookTestRequested>(
  'webhook_test',
  'webhook_endpoint.test_requested.v1',
);
export const webhookResend = request<WebhookResendRequested>(
  'webhook_resend',
  'webhook_delivery.resend_requested.v1',
);
export const webhookRecovery = request<WebhookRecoveryRequested>(
  'webhook_recovery',
  'webhook_endpoint.recovery_requested.v1',
);

/** The rules of the requests, for audits. */
export const REQUEST_HISTORIES = [webhookTest.rules, webhookResend.rules, webhookRecovery.rules];

/** A repeat changes nothing; throws IdempotencyKeyExpired when it comes too late. */
export function requestTest(
  command: WebhookTestRequested['data'],
  state: WebhookTestRequested['data'] | null,
): WebhookTestRequested[] {
  if (state) return repeated(state.occurred_at, command.occurred_at);
  return [{ type: 'webhook_endpoint.test_requested.v1', data: command }];
}

/** A repeat changes nothing. Throws `not_found` for a deleted endpoint and `invalid_transition` for a disabled one. */
export function requestResend(
  command: WebhookResendRequested['data'],
  endpoints: WebhookEndpoints,
  state: WebhookResendRequested['data'] | null,
): WebhookResendRequested[] {
  if (state) return repeated(state.requested_at, command.requested_at);
  const { status } = findEndpoint(endpoints, command.endpoint_id);
  if (status === 'disabled' && !command.is_test) throw endpointDisabled();
  return [{ type: 'webhook_delivery.resend_requested.v1', data: command }];
}

/** Like {@link requestResend}; also throws `validation_failed` for a `since` in the future. */
export function requestRecovery(
  command: WebhookRecoveryRequested['data'],
  endpoints: WebhookEndpoints,
  state: WebhookRecoveryRequested['data'] | null,
): WebhookRecoveryRequested[] {
  if (state) return repeated(state.requested_at, command.requested_at);
  const { status } = findEndpoint(endpoints, command.endpoint_id);
  if (command.since > command.requested_at)
    throw DomainError.invalid({ since: ['must not be in the future'] }).asTransient();
  if (status === 'disabled') throw endpointDisabled();
  return [{ type: 'webhook_endpoint.recovery_requested.v1', data: command }];
}

function repeated(firstAt: string, now: string): never[] {
  requireIdempotent(firstAt, now);
  return [];
}

function endpointDisabled(): DomainError {
  return new DomainError('invalid_transition', 'The webhook endpoint is disabled');
}
