import type { ReceiverResponse } from '../domain/retry.js';

export interface ReceiverUrls {
  /** Throws `validation_failed` for a URL that may not receive webhooks. */
  check(url: string): Promise<void>;
}

export const RECEIVER_URLS = Symbol('RECEIVER_URLS');

/** One attempt's result: never a rejection. */
export interface ReceiverResult {
  readonly response: ReceiverResponse;
  /** What broke, without secrets: an error code or a short sentence. */
  readonly error: string | null;
  /** The first KiB of the response, for the merchant; null when there was none. */
  readonly excerpt: Buffer | null;
}

export interface Receivers {
  /** POSTs the body and waits for the response, all in all no longer than WEBHOOK_TIMEOUT_MS. */
  post(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<ReceiverResult>;
}

export const RECEIVERS = Symbol('RECEIVERS');
