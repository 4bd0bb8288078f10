import { endOf, isOpen, type MadeOrder } from './order.js';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Between two looks, at most: at an order that waits for its deposit, at one whose time is over, at one that is exchanged. */
const OPEN_MS = 20 * SECOND_MS;
const CLOSING_MS = 5 * SECOND_MS;
const PROCESSING_MS = 10 * MINUTE_MS;
/** After the end, for deposits that come late: at least, at most, and for how long after anything has happened to the order. */
const ENDED_LEAST_MS = MINUTE_MS;
const ENDED_MS = DAY_MS;
const WATCHED_MS = 30 * DAY_MS;
/** An order is looked at again when its age has grown by an eighth. */
const AGE_SHARE = 8;
/** For an order that the provider is silent about, at most. */
const SILENT_MS = 5 * MINUTE_MS;

/**
 * How long to wait before the next look at an order, in ms; null: no more. Often at first, ever more rarely then: some 250
 * looks in the hour of a pending order, some 90 in the 30 days after its end. `random` in [0, 1) spreads by plus or
 * minus 10 %.
 */
export function nextLook(
  state: MadeOrder,
  {
    nowMs,
    intervalMs,
    random,
  }: { readonly nowMs: number; readonly intervalMs: number; readonly random: number },
): number | null {
  const spread = (ageMs: number, leastMs: number, mostMs: number): number =>
    Math.max(leastMs, Math.min(ageMs / AGE_SHARE, mostMs)) * (0.9 + 0.2 * random);
  const quietMs = Math.max(0, nowMs - Date.parse(state.updatedAt));
  if (isOpen(state)) {
    const untilEndMs = Date.parse(endOf(state)) - nowMs;
    if (untilEndMs <= 0) return spread(-untilEndMs, intervalMs, Math.max(intervalMs, CLOSING_MS));
    return Math.min(spread(quietMs, intervalMs, Math.max(intervalMs, OPEN_MS)), untilEndMs + 1);
  }
  if (state.status === 'processing') return spread(quietMs, intervalMs, PROCESSING_MS);
  return quietMs > WATCHED_MS ? null : spread(quietMs, ENDED_LEAST_MS, ENDED_MS);
}

/** How long an order rests that `failures` looks in a row told nothing about, in ms. */
export function silence(failures: number, intervalMs: number): number {
  return Math.min(intervalMs * 2 ** Math.min(failures, 20), SILENT_MS);
}
