import type { Aggregate } from '../../../kernel/aggregate.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { requireRepeatable } from '../../../kernel/repeats.js';
import { endpointOf, type WebhookEndpoints } from './webhook-endpoints.js';

/** One more round of a delivery was asked for, under the same `webhook-id`. */
export interface WebhookResendRequested {
  readonly type: 'webhook_delivery.resend_requested.v1';
  readonly data: {
    readonly resend_id: string;
    readonly delivery_id: string;
    readonly endpoint_id: string;
    readonly merchant_id: string;
    /** Test deliveries go to disabled endpoints too. */
    readonly is_test: boolean;
    readonly requested_at: string;
  };
}

export const WEBHOOK_RESEND_REQUESTED =
  'webhook_delivery.resend_requested.v1' satisfies WebhookResendRequested['type'];

/** A resend that was asked for; null when it was not. */
export type WebhookResend = WebhookResendRequested['data'] | null;

/** One stream per request, named by an id that follows from its key: a repeat finds its own event. */
export const webhookResend: Aggregate<WebhookResend, WebhookResendRequested> = {
  category: 'webhook_resend',
  initial: null,
  evolve: (_state, event) => event.data,
};

/**
 * A repeat changes nothing, whatever became of the endpoint. Throws `not_found` when the endpoint is deleted, and
 * `invalid_transition` when it is disabled.
 */
export function requestResend(
  command: WebhookResendRequested['data'],
  endpoints: WebhookEndpoints,
  state: WebhookResend,
): WebhookResendRequested[] {
  if (state) {
    requireRepeatable(state.requested_at, command.requested_at);
    return [];
  }
  const { status } = endpointOf(endpoints, command.endpoint_id);
  if (status === 'disabled' && !command.is_test) throw endpointDisabled();
  return [{ type: WEBHOOK_RESEND_REQUESTED, data: command }];
}

/** The contract's 409: nothing is sent to an endpoint that is disabled. */
export function endpointDisabled(): DomainError {
  return new DomainError('invalid_transition', 'The webhook endpoint is disabled');
}
