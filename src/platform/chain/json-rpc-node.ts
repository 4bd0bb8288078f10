import type { Readable } from 'node:stream';
import { Pool } from 'undici';
import { backoffMs, sleep } from '../jobs/backoff.js';
import { isRateLimitStatus, saysRateLimit } from './rate-limits.js';
import {
  isKind,
  refuseAll,
  responsesIn,
  TOO_MANY,
  type RpcRefusal,
  type RpcResponse,
} from './rpc-responses.js';

/** The largest JSON-RPC batch that nodes accept. */
const BATCH_CALLS = 100;
/** The number of parts into which a failed batch is split. */
const PARTS = 8;
/** The maximum of concurrent batches and, separately, of concurrent single calls. */
const CONNECTIONS = 4;
/** The size limit of a response is this base plus CALL_BYTES for each call, at most MAX_BYTES. */
const RESPONSE_BYTES = 1_048_576;
const CALL_BYTES = 65_536;
const MAX_BYTES = 8_388_608;

const TIMEOUT_MS = 5000;
/** The backoff of a node that limits the rate. Refused calls of a batch are repeated after `firstMs`. */
const PAUSE = { firstMs: 500, maxMs: 10_000 };
const MAX_RETRY_AFTER_MS = 60_000;
/** The maximum size in bytes of a response with an error status. */
const ERROR_BYTES = 65_536;

export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

interface AskOptions {
  /** The maximum of calls per request; 1 sends each call alone. */
  readonly batch?: number;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  /** Adds the JSON text to each result. */
  readonly texts?: boolean;
}

/**
 * A JSON-RPC node. Batches cost a tenth of single calls. A batch that fails for one call is split until that
 * call is alone, within the time of one request. A slow batch is not split, because its parts would be slow
 * too. A node that limits the rate gets no request during a backoff.
 */
export class JsonRpcNode {
  private readonly pool: Pool;
  private readonly slots = { batches: new Slots(CONNECTIONS), alone: new Slots(CONNECTIONS) };
  private readonly path: string;
  private readonly headers: Readonly<Record<string, string>>;
  private pauses = 0;
  /** The end of the backoff, on the monotonic clock. */
  private pausedUntil = 0;

  constructor(url: string) {
    const { origin, pathname, search, username, password } = new URL(url);
    this.pool = new Pool(origin, { connections: 2 * CONNECTIONS, connect: { timeout: 5000 } });
    this.path = `${pathname}${search}`;
    const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    this.headers = {
      'content-type': 'application/json',
      ...(credentials === ':'
        ? {}
        : { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }),
    };
  }

  /** Returns one response per call, in order. Never rejects. */
  async ask(calls: readonly RpcCall[], options: AskOptions = {}): Promise<readonly RpcResponse[]> {
    const batches = parts(calls, options.batch ?? BATCH_CALLS, (part) => this.part(part, options));
    return (await Promise.all(batches)).flat();
  }

  async close(): Promise<void> {
    await this.pool.destroy();
  }

  /** Sends calls and retries failed ones until the deadline `until`, on the monotonic clock. */
  private async part(
    calls: readonly RpcCall[],
    options: AskOptions,
    until = Infinity,
  ): Promise<readonly RpcResponse[]> {
    const slots = options.batch === 1 ? this.slots.alone : this.slots.batches;
    const responses = [...(await slots.run(() => this.send(calls, options, until)))];
    if (calls.length === 1) return responses;
    const places = (applies: (refused: RpcRefusal) => boolean): readonly number[] =>
      responses.flatMap((each, place) => ('refused' in each && applies(each.refused) ? [place] : []));
    const end = Math.min(until, performance.now() + (options.timeoutMs ?? TIMEOUT_MS));
    const repeat = async (again: readonly number[]): Promise<void> => {
      const some = again.map((place) => calls[place]!);
      (await this.part(some, options, end)).forEach((each, n) => (responses[again[n]!] = each));
    };
    const failed = places(({ kind }) => WORTH_ASKING.has(kind));
    const limited = places(({ kind }) => kind === 'limited');
    const whole = WHOLE.find((kind) => responses.every((each) => isKind(each, kind)));
    if (until === Infinity && calls.length > PARTS && whole !== undefined) {
      // A random call is tried first. If it fails too, splitting would only multiply the load.
      const [probe] = await this.part([calls[Math.floor(Math.random() * calls.length)]!], options, end);
      if ('refused' in probe! && probe.refused.kind === whole)
        return this.limit(calls, probe.refused.message);
    }
    await Promise.all([
      ...parts(failed, Math.ceil(calls.length / PARTS), repeat),
      ...(limited.length > 0 && limited.length < calls.length
        ? [sleep(PAUSE.firstMs).then(() => repeat(limited))]
        : []),
    ]);
    return responses;
  }

  /** Refuses these calls, and all others during a backoff that doubles until a request has a result. */
  private limit(calls: readonly RpcCall[], message: string, atLeastMs = 0): readonly RpcResponse[] {
    const pauseMs = Math.max(backoffMs(PAUSE, this.pauses), Math.min(atLeastMs, MAX_RETRY_AFTER_MS));
    if (performance.now() >= this.pausedUntil) this.pauses += 1;
    this.pausedUntil = Math.max(this.pausedUntil, performance.now() + pauseMs);
    return refuseAll(calls, 'limited', message);
  }

  private async send(
    calls: readonly RpcCall[],
    options: AskOptions,
    until: number,
  ): Promise<readonly RpcResponse[]> {
    const { maxBytes = Math.min(RESPONSE_BYTES + calls.length * CALL_BYTES, MAX_BYTES) } = options;
    const requests = calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call }));
    const refuse = (kind: RpcRefusal['kind'], message: string): readonly RpcResponse[] =>
      refuseAll(calls, kind, message);
    const timeoutMs = Math.floor(Math.min(options.timeoutMs ?? TIMEOUT_MS, until - performance.now()));
    if (performance.now() < this.pausedUntil) return refuse('limited', TOO_MANY);
    if (timeoutMs <= 0) return refuse('slow', 'no time left for separate calls');
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const { statusCode, headers, body } = await this.pool.request({
        method: 'POST',
        path: this.path,
        headers: this.headers,
        body: JSON.stringify(requests.length === 1 ? requests[0] : requests),
        signal,
      });
      const text = await readCapped(body, statusCode === 200 ? maxBytes : ERROR_BYTES);
      if (isRateLimitStatus(statusCode) || (statusCode !== 200 && saysRateLimit(text ?? '')))
        return this.limit(
          calls,
          `HTTP ${statusCode}: ${TOO_MANY}`,
          Number(headers['retry-after']) * 1000 || 0,
        );
      if (statusCode === 401 || statusCode === 403)
        return refuse('denied', `HTTP ${statusCode}: the node does not accept the credentials`);
      if (statusCode !== 200) return refuse('status', `HTTP ${statusCode}`);
      if (text === null) return refuse('too_large', `a response of more than ${maxBytes} bytes`);
      const responses = responsesIn(text, calls.length, options.texts === true);
      if (responses.every((each) => isKind(each, 'nonsense')) && saysRateLimit(text))
        return this.limit(calls, TOO_MANY);
      const [first] = responses;
      if (calls.length > 1 && 'refused' in first! && responses.every((each) => isKind(each, 'limited')))
        return this.limit(calls, first.refused.message);
      if (responses.some((each) => 'result' in each)) this.pauses = 0;
      return responses;
    } catch {
      // The error is dropped, because it may contain the node's address with a key.
      if (signal.aborted) return refuse('slow', `no response within ${timeoutMs} ms`);
      return refuse('unavailable', 'no connection');
    }
  }
}

/** The failures that a rate-limited node may return for every call at once. */
const WHOLE = ['status', 'nonsense'] as const;
const WORTH_ASKING: ReadonlySet<RpcRefusal['kind']> = new Set([
  'too_large',
  'unavailable',
  'status',
  'error',
  'nonsense',
]);

function parts<T, R>(all: readonly T[], size: number, each: (part: readonly T[]) => R): R[] {
  const results: R[] = [];
  for (let from = 0; from < all.length; from += size) results.push(each(all.slice(from, from + size)));
  return results;
}

/** A semaphore. Waiting in it, unlike in the pool's queue, does not use up the request timeout. */
class Slots {
  private readonly waiting: (() => void)[] = [];

  constructor(private free: number) {}

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.free += 1;
      else next();
    }
  }
}

/** Reads the body as text; null if it has more than `maxBytes`. */
async function readCapped(body: Readable, maxBytes: number): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // This return closes the connection.
    if (bytes > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
