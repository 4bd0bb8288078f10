import type { ReceiverResponse } from '../domain/outcome.js';

/** Why a URL may not receive webhooks, in words for the merchant; null when it may. */
export interface ReceiverUrlGuard {
  refusal(url: string): Promise<string | null>;
}

export const RECEIVER_URL_GUARD = Symbol('RECEIVER_URL_GUARD');

/** One attempt's result: never a rejection, whatever the receiver does. */
export interface ReceiverAnswer {
  readonly response: ReceiverResponse;
  /** What broke, without secrets: an error code or a short sentence. */
  readonly error: string | null;
  /** The first KiB of the answer, for the merchant to look at; null when there was none. */
  readonly excerpt: Buffer | null;
}

export interface Receivers {
  /** POSTs the body and waits for the answer, all in all no longer than WEBHOOK_TIMEOUT_MS. */
  post(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<ReceiverAnswer>;
}

export const RECEIVERS = Symbol('RECEIVERS');
