import type { PayoutFacts } from './payout-events.js';
import type { PayoutState } from './payout.js';

type JsonFacts = Omit<PayoutFacts, 'merchant_id' | 'chain_id'>;

/** The response to a report, also to a repeat that comes when the payout has its outcome. */
export function responseTo(state: PayoutState): string {
  if (state.status === 'unreported') throw new Error('a reported payout has facts');
  const json = payoutJsonBeforeTime(state.facts, 'pending', null);
  return `{"payout":${json},"created_at":"${state.createdAt}"}}`;
}

/**
 * The JSON of a payout as the API gives it (contract.md 9), built without parsing the merchant's metadata, up to
 * `created_at`, its last member: the terminal events do not repeat it. `reason` is null unless the payout expired.
 */
export function payoutJsonBeforeTime(
  facts: JsonFacts,
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
