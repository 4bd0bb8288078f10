import { chainRules } from '../../../platform/chain/chain-rules.js';
import { VERIFICATION } from '../store/verification-queue.js';

/** The delay after which no process checks a due payout, or no node can be relied on. */
const CHECK_LATE_SECONDS = 60;
/** The longest time without a usable response about one transaction. */
const NO_RESPONSE_SECONDS = 600;
/** The longest time to an outcome after the window and the two checks that let a payout expire. */
const OUTCOME_LATE_SECONDS = 600;

/** Pending payouts, with the item that schedules their checks. */
export const PENDING_PAYOUTS = `payouts.verifications pending
  join work.items item on item.kind = '${VERIFICATION}' and item.key = pending.payout_id::text`;

/**
 * A condition on {@link PENDING_PAYOUTS}: the payout stays pending until an operator acts. It is on another chain than
 * CHAIN_ID; or no process has begun its check; or processes try, and no node can be relied on; or no node has a usable
 * response about its transaction; or its window is over. `due` of the state is the scheduled time of the check, because
 * `due_at` moves with each attempt.
 */
export function isOverdue(settings: Parameters<typeof chainRules>[0]): string {
  const { expiryMarginSeconds } = chainRules(settings);
  const isBefore = (time: string, seconds: number): string =>
    `${time} < now() - interval '${seconds} seconds'`;
  const scheduled = `coalesce((item.state->>'due')::timestamptz, created_at)`;
  return `(pending.chain_id <> ${settings.chainId}
    or ${isBefore('item.due_at', CHECK_LATE_SECONDS)}
    or item.lease is not null and ${isBefore(scheduled, CHECK_LATE_SECONDS)}
    or ${isBefore('item.failing_since', NO_RESPONSE_SECONDS)}
    or ${isBefore('expires_at', 2 * expiryMarginSeconds + OUTCOME_LATE_SECONDS)}) is true`;
}
