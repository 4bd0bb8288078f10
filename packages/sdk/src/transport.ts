import { apiError, ConnectionError, problemOf, ResponseTooLargeError, signatureHint } from './errors.js';

/** The limits of the attempts of a call. */
export interface RetryOptions {
  /** The maximum of attempts; 6 by default. */
  readonly attempts?: number;
  /** The timeout of one attempt in milliseconds; 30,000 by default. */
  readonly timeoutMs?: number;
  /** The longest `Retry-After` in milliseconds that the client waits for; 60,000 by default. */
  readonly maxWaitMs?: number;
  /** The maximum of a response body in bytes; 33,554,432 by default. Above: ResponseTooLargeError. */
  readonly maxResponseBytes?: number;
  readonly fetch?: typeof fetch;
}

/** Adds the credentials to an attempt. Returns the signed bytes, or null if a 401 needs no hint. */
export type Sign = (request: Outgoing) => Promise<Uint8Array | null>;

export interface Outgoing {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer>;
}

const FIRST_WAIT_MS = 200;
/** The statuses after which a repeat is safe: the write was not done, or the first response is repeated. */
const RETRIED = new Set([429, 500, 502, 503, 504]);
const IN_FLIGHT = /Idempotency-Key is in flight/;

/**
 * Returns a `fetch` that signs and retries. A repeated write has the same Idempotency-Key, so the service
 * performs it once. Rejects with ApiError from status 400, with ConnectionError without a full response.
 */
export function retryingFetch(sign: Sign, options: RetryOptions): (request: Request) => Promise<Response> {
  const { attempts = 6, timeoutMs = 30_000, maxWaitMs = 60_000, maxResponseBytes = 1 << 25 } = options;
  const { fetch: send = fetch } = options;
  return async (request) => {
    const body = new Uint8Array(await request.arrayBuffer());
    const { method, signal } = request;
    for (let attempt = 1; ; attempt += 1) {
      const outgoing = { method, url: new URL(request.url), headers: new Headers(request.headers), body };
      const signed = await sign(outgoing);
      const received = await exchange(
        send,
        outgoing,
        maxResponseBytes,
        AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      );
      signal.throwIfAborted();
      if ('response' in received && received.response.status < 400)
        return new Response(received.text === '' ? null : received.text, received.response);
      const isLast = attempt >= attempts;
      if ('error' in received) {
        if (received.error instanceof ResponseTooLargeError) throw received.error;
        if (isLast)
          throw new ConnectionError(
            `${method} ${outgoing.url.pathname}: no response in ${attempt} attempts`,
            {
              cause: received.error,
            },
          );
        await wait(jittered(attempt), signal);
        continue;
      }
      const { response, text } = received;
      const waitMs = isLast ? null : waitOf(response, text, attempt, maxWaitMs);
      if (waitMs === null) {
        const hint = response.status === 401 && signed !== null ? signatureHint(text, signed) : null;
        const requestId = response.headers.get('request-id');
        throw apiError(problemOf(response.status, text), requestId, hint);
      }
      await wait(waitMs, signal);
    }
  };
}

type Received = { readonly response: Response; readonly text: string } | { readonly error: unknown };

/** Returns the complete response, or the error. A body that is cut off is an error. */
async function exchange(
  send: typeof fetch,
  { url, method, headers, body }: Outgoing,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Received> {
  try {
    const response = await send(url, {
      method,
      headers,
      signal,
      redirect: 'error',
      ...(body.length === 0 ? {} : { body }),
    });
    return { response, text: await readText(response, maxBytes, `${method} ${url.pathname}`) };
  } catch (error) {
    return { error };
  }
}

/** Reads the body. Ends the connection and throws ResponseTooLargeError above `maxBytes`. */
async function readText(response: Response, maxBytes: number, call: string): Promise<string> {
  if (response.body === null) return '';
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let [text, size] = ['', 0];
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    size += read.value.length;
    if (size > maxBytes) {
      reader.cancel().catch(() => undefined);
      throw new ResponseTooLargeError(`${call}: the response is larger than ${maxBytes} bytes`);
    }
    text += decoder.decode(read.value, { stream: true });
  }
  return text + decoder.decode();
}

/** Returns the milliseconds before the next attempt; null if a repeat is useless or the wait too long. */
export function waitOf(response: Response, text: string, attempt: number, maxWaitMs: number): number | null {
  const isInFlight = response.status === 409 && IN_FLIGHT.test(text);
  if (!RETRIED.has(response.status) && !isInFlight) return null;
  const header = response.headers.get('retry-after');
  const seconds = header === null ? 0 : Number(header);
  const demandedMs = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header!) - Date.now();
  if (!(demandedMs > 0)) return jittered(attempt);
  return demandedMs > maxWaitMs ? null : demandedMs + Math.random() * FIRST_WAIT_MS;
}

/** Returns a random delay in ms, between half and all of a maximum that doubles with each attempt. */
function jittered(attempt: number): number {
  return FIRST_WAIT_MS * 2 ** (attempt - 1) * (0.5 + Math.random() / 2);
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(done, ms);
    function done(): void {
      signal.removeEventListener('abort', aborted);
      resolve();
    }
    function aborted(): void {
      clearTimeout(timer);
      reject(signal.reason as Error);
    }
    signal.addEventListener('abort', aborted, { once: true });
  });
}
