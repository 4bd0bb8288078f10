import type { Finding } from './verification.js';

/** The longest interval between checks of an old payout, so that a late transfer is noticed within half an hour. */
const RAREST_MS = 30 * 60_000;
/** The longest interval between checks of a transfer that only lacks confirmations. */
const CONFIRMING_MS = 30_000;
/** The longest interval between checks after the window, or without a usable response. */
const CLOSING_MS = 15_000;
const NO_RESPONSE_MS = 5 * 60_000;
/**
 * A payout is checked again when its age has grown by a quarter: 16 checks in the first minute and about 80 in 24 h. Checks
 * are the largest part of what a report costs PostgreSQL (docs/benchmarks.md).
 */
const AGE_SHARE = 4;

/**
 * How long to wait before the next check of a pending payout, in ms: fresh ones often, old ones rarely, and never past
 * the end of the window, which alone is worth a check where there is no wallet or no hash. `random` in [0, 1) spreads payouts of the same age by plus or minus 10 %.
 */
export function nextCheckDelay(input: {
  readonly ageMs: number;
  readonly untilExpiryMs: number;
  readonly finding: Finding['kind'];
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

/** The delay after a check without a usable response, when `times` before it had none either, in ms: doubling to 5 minutes. */
export function noResponseBackoff(times: number, intervalMs: number): number {
  return Math.min(intervalMs * 2 ** Math.min(times, 20), Math.max(intervalMs, NO_RESPONSE_MS));
}
