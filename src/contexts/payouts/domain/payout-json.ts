import type { PayoutFacts } from '../contract.js';
import type { ReportedPayout } from './payout.js';

type JsonFacts = Omit<PayoutFacts, 'merchant_id' | 'chain_id'>;

/**
 * The JSON of a payout as the API gives it (contract.md 9), built without parsing
 * the merchant's metadata. `reason` is null unless the payout expired.
 */
export function payoutJson(
  facts: JsonFacts,
  status: ReportedPayout['status'],
  reason: string | null,
  createdAt: string,
): string {
  return withCreatedAt(payoutJsonBeforeTime(facts, status, reason), createdAt);
}

/** {@link payoutJson} up to `created_at`, its last member: the terminal events do not repeat it. */
export function payoutJsonBeforeTime(
  facts: JsonFacts,
  status: ReportedPayout['status'],
  reason: string | null,
): string {
  return (
    `{"id":"${facts.payout_id}","user_id":"${facts.user_id}","amount":"${facts.amount}",` +
    `"currency_code":"${facts.currency_code}","status":"${status}",` +
    `"transaction_hash":${JSON.stringify(facts.transaction_hash)},"reason":${JSON.stringify(reason)},` +
    `"custom_metadata":${facts.custom_metadata}`
  );
}

export function withCreatedAt(jsonBeforeTime: string, createdAt: string): string {
  return `${jsonBeforeTime},"created_at":"${createdAt}"}`;
}
