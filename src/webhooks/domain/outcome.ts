/** Where an attempt broke before it had an answer. `address` is the guard's refusal. */
export type FailurePhase = 'address' | 'dns' | 'connect' | 'tls' | 'send' | 'answer' | 'timeout';

/** What came back from a receiver. */
export type ReceiverResponse =
  | { readonly kind: 'answered'; readonly status: number; readonly retryAfter: string | null }
  | { readonly kind: 'failed'; readonly phase: FailurePhase };

/** `retry` while the schedule lasts; `gone` also disables the endpoint. */
export type Outcome = 'succeeded' | 'retry' | 'exhausted' | 'gone';

/** The table of merchant-api section 3.4. A 3xx is a failure that is retried (decisions.md, "retry schedule"). */
export function outcomeOf(response: ReceiverResponse): Outcome {
  if (response.kind === 'failed') return 'retry';
  const { status } = response;
  if (status >= 200 && status < 300) return 'succeeded';
  if (status === 410) return 'gone';
  if (status >= 400 && status < 500 && status !== 408 && status !== 429) return 'exhausted';
  return 'retry';
}
