import type { PayoutState } from './payout.js';
import type { PayoutFacts } from './payout-events.js';

/** Returns the response to a report: a pending payout, also for a repeat after the outcome. */
export function responseTo(state: PayoutState): string {
  if (state.status === 'unreported') throw new Error('the payout is unreported and has no response');
  const json = payoutJsonBeforeTime(state.reported, 'pending', null);
  return `{"payout":${json},"created_at":"${state.reported.created_at}"}}`;
}

/**
 * Returns the JSON of a payout in the API (contract.md 9) without its last member `created_at`, which an expiry event
 * lacks. The metadata is not parsed. `reason` is null unless the payout expired.
 */
export function payoutJsonBeforeTime(
  facts: PayoutFacts,
  status: Exclude<PayoutState['status'], 'unreported'>,
  reason: string | null,
): string {
  return (
    `{"id":"${facts.payout_id}","user_id":"${facts.user_id}","amount":"${facts.amount}",` +
    `"currency_code":"${facts.currency_code}","status":"${status}",` +
    `"transaction_hash":${JSON.stringify(facts.transaction_hash)},"reason":${JSON.stringify(reason)},` +
    `"custom_metadata":${facts.custom_metadata}`
  );
}
