import { DAY_MS } from '../../../kernel/clock.js';

export const DELIVERY_STATUSES = ['pending', 'succeeded', 'exhausted', 'dropped'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** The jitter of a delay, as a fraction in both directions (contract.md 14.3). */
export const JITTER = 0.1;
export const RETRY_AFTER_CAP_MS = DAY_MS;
/** The time by which deliveries of a suspended merchant are postponed, without an attempt. */
export const SUSPENDED_MS = 5 * 60_000;

/**
 * Returns the milliseconds until the next attempt, or null after the last. Ten delays allow eleven attempts.
 * @param attempt the number of the attempt in its round, from 1
 * @param random in [0, 1)
 * @param requestedMs the `Retry-After` of the response
 */
export function retryDelayMs(
  attempt: number,
  response: ReceiverResponse,
  scheduleSeconds: readonly number[],
  random: number,
  requestedMs: number | null,
): number | null {
  const seconds = scheduleSeconds[attempt - 1];
  if (seconds === undefined) return null;
  const scheduled = seconds * 1000 * (1 - JITTER + 2 * JITTER * random);
  const honoured =
    response.kind === 'response' && [429, 503].includes(response.status) ? (requestedMs ?? 0) : 0;
  return Math.round(Math.max(scheduled, Math.min(honoured, RETRY_AFTER_CAP_MS)));
}

type ReceiverResponse = { readonly kind: 'response'; readonly status: number } | { readonly kind: 'failed' };

/** The outcome of an attempt. `retry` is exhausted after the last delay; `gone` disables the endpoint. */
export type AttemptOutcome = 'succeeded' | 'retry' | 'exhausted' | 'gone';

/** Classifies a response by the table of contract.md 14.1. */
export function toOutcome(response: ReceiverResponse): AttemptOutcome {
  if (response.kind === 'failed') return 'retry';
  const { status } = response;
  if (status >= 200 && status < 300) return 'succeeded';
  if (status === 410) return 'gone';
  if (status >= 400 && status < 500 && status !== 408 && status !== 429) return 'exhausted';
  return 'retry';
}
