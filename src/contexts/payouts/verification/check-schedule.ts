import type { CheckFinding } from './verification.js';

/** The longest interval between checks of an old payout. */
const RAREST_MS = 30 * 60_000;
/** The longest interval between checks of a transfer that only lacks confirmations. */
const CONFIRMING_MS = 30_000;
/** The longest interval between checks after the window. */
const CLOSING_MS = 15_000;
const NO_RESPONSE_MS = 5 * 60_000;
/**
 * The age of a payout, divided by this number, is the delay of its next check. The result is 16 checks in the
 * first minute and some 80 in 24 h. Checks cause most database work of a report (docs/benchmarks.md).
 */
const AGE_SHARE = 4;

/**
 * Returns the delay of the next check in ms, which grows with the payout's age, up to the end of the window.
 * A payout without a wallet or a hash waits until that end. `random` (0 to 1) varies the delay by 10 %.
 */
export function nextCheckDelay(input: {
  readonly ageMs: number;
  readonly untilExpiryMs: number;
  readonly finding: CheckFinding;
  readonly intervalMs: number;
  readonly random: number;
}): number {
  const { finding, untilExpiryMs } = input;
  if ((finding === 'no_wallet' || finding === 'not_a_hash') && untilExpiryMs > 0) return untilExpiryMs;
  const pending = input.finding === 'confirming' ? CONFIRMING_MS : RAREST_MS;
  const longest = input.untilExpiryMs > 0 ? pending : CLOSING_MS;
  const wait = Math.max(input.intervalMs, Math.min(input.ageMs / AGE_SHARE, longest));
  const spread = Math.round(wait * (0.9 + 0.2 * input.random));
  return input.untilExpiryMs > 0 ? Math.min(spread, input.untilExpiryMs) : spread;
}

/** Returns the delay in ms after `times` earlier checks without a usable response, up to 5 minutes. */
export function noResponseBackoff(times: number, intervalMs: number): number {
  return Math.min(intervalMs * 2 ** Math.min(times, 20), Math.max(intervalMs, NO_RESPONSE_MS));
}
