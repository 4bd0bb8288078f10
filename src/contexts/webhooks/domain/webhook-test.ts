import type { Aggregate } from '../../../kernel/aggregate.js';
import { requireRepeatable } from '../../../kernel/repeats.js';
import type { WebhookTestRequested } from '../contract.js';

/** What a synthetic delivery says. */
export const TEST_MESSAGE = 'This is a test delivery.';

/** A test delivery that was asked for; null when it was not. */
export type WebhookTest = WebhookTestRequested['data'] | null;

/**
 * One stream per test delivery, named by the id of the delivery: a repeat finds its own event, and the registry of
 * endpoints stays short however often a merchant tests.
 */
export const webhookTest: Aggregate<WebhookTest, WebhookTestRequested> = {
  category: 'webhook_test',
  initial: null,
  evolve: (_state, event) => event.data,
};

export function requestTest(
  command: WebhookTestRequested['data'],
  state: WebhookTest,
): WebhookTestRequested[] {
  if (state) {
    requireRepeatable(state.occurred_at, command.occurred_at);
    return [];
  }
  return [{ type: 'webhook_endpoint.test_requested.v1', data: command }];
}
