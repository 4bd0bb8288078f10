import type { ReceiverResponse } from './outcome.js';

/** Each delay lies within plus or minus this part of itself (contract.md 14.3). */
export const JITTER = 0.1;
/** The most a `Retry-After` may ask for, in milliseconds: 24 hours. */
export const RETRY_AFTER_CAP_MS = 86_400_000;

/**
 * Milliseconds until the next attempt, or null when there is none.
 * @param attempt how many attempts this round has made, this one included (from 1)
 * @param scheduleSeconds delays after the first attempt: eleven attempts for ten delays
 * @param random in [0, 1)
 * @param askedMs what a `Retry-After` asks for, in milliseconds; heeded with 429 and 503
 */
export function retryDelayMs(
  attempt: number,
  response: ReceiverResponse,
  scheduleSeconds: readonly number[],
  random: number,
  askedMs: number | null,
): number | null {
  const seconds = scheduleSeconds[attempt - 1];
  if (seconds === undefined) return null;
  const scheduled = seconds * 1000 * (1 - JITTER + 2 * JITTER * random);
  const heeded = response.kind === 'responded' && [429, 503].includes(response.status) ? (askedMs ?? 0) : 0;
  return Math.round(Math.max(scheduled, Math.min(heeded, RETRY_AFTER_CAP_MS)));
}
