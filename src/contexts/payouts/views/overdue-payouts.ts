import { chainRules } from '../../../platform/chain/chain-rules.js';
import { VERIFICATION } from '../store/verification-queue.js';

/** A check that is due for longer than this found no process to do it, or no node that can be relied on. */
const CHECK_LATE_SECONDS = 60;
/** The seconds for which a node may have no usable response about one transaction. */
const NO_RESPONSE_SECONDS = 600;
/** So long after its window, and the two checks that let it expire, a payout should have its outcome. */
const OUTCOME_LATE_SECONDS = 600;

type Settings = Parameters<typeof chainRules>[0];

/** Pending payouts, with the item that schedules their checks. */
export const PENDING_PAYOUTS = `payouts.verifications pending
  join work.items item on item.kind = '${VERIFICATION}' and item.key = pending.payout_id::text`;

/**
 * SQL over {@link PENDING_PAYOUTS}: why the payout stays pending until somebody acts; null for one that is checked as it
 * should be. `due` of the state is when the check was scheduled for: `due_at` moves while processes try.
 * - `other_chain`: it was reported for another chain than CHAIN_ID, and is not checked here
 * - `not_checked`: its check was due more than a minute ago, and no process has begun it
 * - `no_node`: the same, and processes try: no node of the chain can be relied on
 * - `no_response`: for ten minutes no node has had a usable response about its transaction
 * - `no_outcome`: its window has been over for ten minutes, beyond the margin that its last two checks need
 */
export function overdueReason(settings: Settings): string {
  const { expiryMarginSeconds } = chainRules(settings);
  const ago = (seconds: number): string => `now() - interval '${seconds} seconds'`;
  const scheduled = `coalesce((item.state->>'due')::timestamptz, created_at)`;
  return `case
    when pending.chain_id <> ${settings.chainId} then 'other_chain'
    when item.due_at < ${ago(CHECK_LATE_SECONDS)} then 'not_checked'
    when item.lease is not null and ${scheduled} < ${ago(CHECK_LATE_SECONDS)} then 'no_node'
    when item.failing_since < ${ago(NO_RESPONSE_SECONDS)} then 'no_response'
    when expires_at < ${ago(2 * expiryMarginSeconds + OUTCOME_LATE_SECONDS)} then 'no_outcome'
  end`;
}
