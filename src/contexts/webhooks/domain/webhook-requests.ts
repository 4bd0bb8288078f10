import type { Aggregate, DomainEvent } from '../../../kernel/aggregate.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { requireIdempotent } from '../../../kernel/idempotency.js';
import { findEndpoint, type EndpointRef, type WebhookEndpoints } from './webhook-endpoints.js';

/** A synthetic delivery was requested (contract.md 12.10); `delivery_id` is its `webhook-id` header. */
export type WebhookTestRequested = DomainEvent<
  'webhook_endpoint.test_requested.v1',
  EndpointRef & { readonly delivery_id: string; readonly message: string; readonly occurred_at: string }
>;

/** One more round of a delivery was requested, under the same `webhook-id`. */
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

/** The request to send again all that an endpoint missed of deliveries created at `since` or later. */
export type WebhookRecoveryRequested = DomainEvent<
  'webhook_endpoint.recovery_requested.v1',
  EndpointRef & { readonly recovery_id: string; readonly since: string; readonly requested_at: string }
>;

/** Stored names of all requests. */
export const WEBHOOK_REQUESTS = [
  'webhook_endpoint.test_requested.v1',
  'webhook_delivery.resend_requested.v1',
  'webhook_endpoint.recovery_requested.v1',
] as const;

export const TEST_MESSAGE = 'This is a test delivery.';

/**
 * One stream per request, named by an id that follows from its key: a repeat finds its own event, and the registry of
 * endpoints stays short however much a merchant requests. The state is null before the request.
 */
function request<Event extends DomainEvent>(category: string): Aggregate<Event['data'] | null, Event> {
  return { category, initial: null, evolve: (_state, event) => event.data };
}

export const webhookTest = request<WebhookTestRequested>('webhook_test');
export const webhookResend = request<WebhookResendRequested>('webhook_resend');
export const webhookRecovery = request<WebhookRecoveryRequested>('webhook_recovery');

/** A repeat changes nothing; throws IdempotencyKeyExpired when it comes too late. */
export function requestTest(
  command: WebhookTestRequested['data'],
  state: WebhookTestRequested['data'] | null,
): WebhookTestRequested[] {
  if (state) return repeated(state.occurred_at, command.occurred_at);
  return [{ type: 'webhook_endpoint.test_requested.v1', data: command }];
}

/**
 * A repeat changes nothing, also when the endpoint has changed. Throws `not_found` when the endpoint is deleted, and
 * `invalid_transition` when it is disabled.
 */
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

/** Like {@link requestResend}; throws `validation_failed` for a `since` in the future besides. */
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
