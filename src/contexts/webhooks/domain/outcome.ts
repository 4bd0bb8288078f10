/**
 * Where an attempt broke before it had a whole response; merchants see it as the class of its error (docs/adr/0076).
 * `address`: the guard's refusal. `dns`: the name did not resolve. `connect`: no TCP connection. `tls`: handshake or
 * certificate. `send`: connected, and no byte of a response. `answer`: not HTTP/1.1, too large or broken off.
 * `timeout`: none of these in time.
 */
export type FailurePhase = 'address' | 'dns' | 'connect' | 'tls' | 'send' | 'answer' | 'timeout';

/** What came back from a receiver. */
export type ReceiverResponse =
  | { readonly kind: 'responded'; readonly status: number; readonly retryAfter: string | null }
  | { readonly kind: 'failed'; readonly phase: FailurePhase };

/** `retry` while the schedule lasts; `gone` also disables the endpoint. */
export type Outcome = 'succeeded' | 'retry' | 'exhausted' | 'gone';

/** The table of contract.md 14.1. */
export function outcomeOf(response: ReceiverResponse): Outcome {
  if (response.kind === 'failed') return 'retry';
  const { status } = response;
  if (status >= 200 && status < 300) return 'succeeded';
  if (status === 410) return 'gone';
  if (status >= 400 && status < 500 && status !== 408 && status !== 429) return 'exhausted';
  return 'retry';
}
