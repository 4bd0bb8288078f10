import { DAY_MS, MINUTE_MS } from '../../../kernel/clock.js';
import { findEnd, isOpen, type ExistingOrder } from '../orders/order.js';

/** The kind of work items that poll orders. Each item has the order's provider as its share. */
export const WATCH = 'exchange.watch';
/** The priorities of polls. Orders with a new event precede orders whose poll is due. */
export const WATCH_LINES = { woken: 0, polled: 1 } as const;

const SECOND_MS = 1000;

/** The longest intervals between polls of an order: before its end, after its end, during the exchange. */
const OPEN_MS = 20 * SECOND_MS;
const CLOSING_MS = 5 * SECOND_MS;
const PROCESSING_MS = 10 * MINUTE_MS;
/** The shortest and longest interval of polls for late deposits, and their duration after the last change. */
const ENDED_MIN_MS = MINUTE_MS;
const ENDED_MS = DAY_MS;
const WATCHED_MS = 30 * DAY_MS;
/** The interval of a poll is 1/AGE_SHARE of the time since the last change. */
const AGE_SHARE = 8;
/** The longest interval between polls that fail. */
export const MAX_RETRY_MS = 5 * MINUTE_MS;

/**
 * Returns the milliseconds until the next poll, or null for none. There are about 250 polls in the hour of a
 * pending order and 90 in the 30 days after its end. `random` in [0, 1) spreads them by ±10 %.
 */
export function nextPoll(
  state: ExistingOrder,
  { nowMs, intervalMs, random }: Record<'nowMs' | 'intervalMs' | 'random', number>,
): number | null {
  const spread = (ageMs: number, minMs: number, maxMs: number): number =>
    Math.max(minMs, Math.min(ageMs / AGE_SHARE, maxMs)) * (0.9 + 0.2 * random);
  const quietMs = Math.max(0, nowMs - Date.parse(state.updated_at));
  if (isOpen(state)) {
    const untilEndMs = Date.parse(findEnd(state)) - nowMs;
    if (untilEndMs <= 0) return spread(-untilEndMs, intervalMs, Math.max(intervalMs, CLOSING_MS));
    return Math.min(spread(quietMs, intervalMs, Math.max(intervalMs, OPEN_MS)), untilEndMs + 1);
  }
  if (state.status === 'processing') return spread(quietMs, intervalMs, PROCESSING_MS);
  return quietMs > WATCHED_MS ? null : spread(quietMs, ENDED_MIN_MS, ENDED_MS);
}
