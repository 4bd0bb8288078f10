import { DAY_MS } from '../../../kernel/clock.js';
import type { DisableCause } from './webhook-endpoints.js';

export const DELIVERY_STATUSES = ['pending', 'succeeded', 'exhausted', 'dropped'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** The states of a delivery that ended without success, in words for people. */
export const DELIVERY_STATES = {
  exhausted: 'no further automatic attempt',
  dropped: 'the endpoint was disabled or deleted',
} as const satisfies Readonly<Record<string, string>>;

/** The causes of a disabled endpoint, in words for people. */
export const DISABLED_BY: Readonly<Record<DisableCause, string>> = {
  merchant: 'the merchant',
  gone: 'a response with 410',
  failing: 'sustained failures',
};

/** Each delay lies within plus or minus this part of itself (contract.md 14.3). */
export const JITTER = 0.1;
/** The most a `Retry-After` may ask for, in milliseconds: 24 hours. */
export const RETRY_AFTER_CAP_MS = DAY_MS;
/** The delay until a delivery of a suspended merchant is due again. No attempt counts meanwhile. */
export const SUSPENDED_MS = 5 * 60_000;

/**
 * Milliseconds until the next attempt, or null when there is none.
 * @param attempt number of the attempt in this round, from 1
 * @param scheduleSeconds delays after the first attempt: eleven attempts for ten delays
 * @param random in [0, 1)
 * @param requestedMs what a `Retry-After` requests, in milliseconds; honoured with 429 and 503
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

/**
 * Where an attempt broke before it had a whole response; merchants see it as the class of its error (docs/adr/0076).
 * `address`: the guard's refusal. `dns`: the name did not resolve. `connect`: no TCP connection. `tls`: handshake or
 * certificate. `send`: connected, and no byte of a response. `response`: not HTTP/1.1, too large or broken off.
 * `timeout`: none of these in time.
 */
export type ErrorClass = 'address' | 'dns' | 'connect' | 'tls' | 'send' | 'response' | 'timeout';

/** The response of a receiver. */
type ReceiverResponse =
  | { readonly kind: 'response'; readonly status: number }
  | { readonly kind: 'failed'; readonly phase: ErrorClass };

/** `retry` while the schedule lasts; `gone` also disables the endpoint. */
export type AttemptOutcome = 'succeeded' | 'retry' | 'exhausted' | 'gone';

/** The table of contract.md 14.1. */
export function toOutcome(response: ReceiverResponse): AttemptOutcome {
  if (response.kind === 'failed') return 'retry';
  const { status } = response;
  if (status >= 200 && status < 300) return 'succeeded';
  if (status === 410) return 'gone';
  if (status >= 400 && status < 500 && status !== 408 && status !== 429) return 'exhausted';
  return 'retry';
}
