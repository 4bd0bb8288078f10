import type { Aggregate } from '../../../kernel/aggregate.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { requireRepeatable } from '../../../kernel/repeats.js';
import { endpointOf, type WebhookEndpoints } from './webhook-endpoints.js';
import { endpointDisabled } from './webhook-resend.js';

/** What an endpoint did not get since some moment is to be sent after all. */
export interface WebhookRecoveryRequested {
  readonly type: 'webhook_endpoint.recovery_requested.v1';
  readonly data: {
    readonly recovery_id: string;
    readonly endpoint_id: string;
    readonly merchant_id: string;
    /** Deliveries made at this moment or later, ISO 8601 in UTC. */
    readonly since: string;
    readonly requested_at: string;
  };
}

export const WEBHOOK_RECOVERY_REQUESTED =
  'webhook_endpoint.recovery_requested.v1' satisfies WebhookRecoveryRequested['type'];

/** A recovery that was asked for; null when it was not. */
export type WebhookRecovery = WebhookRecoveryRequested['data'] | null;

/** One stream per request, named by an id that follows from its key: a repeat finds its own event. */
export const webhookRecovery: Aggregate<WebhookRecovery, WebhookRecoveryRequested> = {
  category: 'webhook_recovery',
  initial: null,
  evolve: (_state, event) => event.data,
};

/**
 * A repeat changes nothing, whatever became of the endpoint. Throws `not_found` when the endpoint is deleted,
 * `validation_failed` for a `since` in the future, and `invalid_transition` when the endpoint is disabled.
 */
export function requestRecovery(
  command: WebhookRecoveryRequested['data'],
  endpoints: WebhookEndpoints,
  state: WebhookRecovery,
): WebhookRecoveryRequested[] {
  if (state) {
    requireRepeatable(state.requested_at, command.requested_at);
    return [];
  }
  const { status } = endpointOf(endpoints, command.endpoint_id);
  if (command.since > command.requested_at) {
    throw DomainError.invalid({ since: ['must not be in the future'] });
  }
  if (status === 'disabled') throw endpointDisabled();
  return [{ type: WEBHOOK_RECOVERY_REQUESTED, data: command }];
}
