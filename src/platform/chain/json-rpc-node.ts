import type { Readable } from 'node:stream';
import { Pool } from 'undici';
import { eachElement, eachMember, endOfValue } from '../json-text/json-text.js';

/** What nodes take in one JSON-RPC batch. */
const BATCH_CALLS = 100;
/** Into so many parts a batch is split that failed as a whole. */
const PARTS = 8;
/** Requests in flight at a time, and as many more for calls that are sent alone: neither waits for the other. */
const CONNECTIONS = 4;
/** Bytes of one response: so many, and so many more for each call in it, up to the most. */
const RESPONSE_BYTES = 1_048_576;
const CALL_BYTES = 65_536;
const MAX_BYTES = 8_388_608;

const TIMEOUT_MS = 5000;

export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** Why a call has no result. `denied`: the node refuses all requests (401, 403, 429). */
interface RpcRefusal {
  readonly kind: 'denied' | 'too_large' | 'slow' | 'unavailable' | 'error' | 'nonsense';
  /** For the log: holds no address and nothing that the node wrote. */
  readonly message: string;
}

/** `text`: the result as it was sent, where that was requested. */
export type RpcResponse =
  { readonly result: unknown; readonly text?: string } | { readonly refused: RpcRefusal };

interface AskOptions {
  /** Calls per request; 1 sends a plain call, no batch. */
  readonly batch?: number;
  readonly timeoutMs?: number;
  /** Bytes of one response, in place of the usual bound. */
  readonly maxBytes?: number;
  readonly texts?: boolean;
}

/**
 * A JSON-RPC node behind a URL. Calls go in batches over kept connections: a tenth of what a general provider costs
 * per call, and many transactions cost very many of them. A batch that fails for one of its calls is split until that one
 * is alone; one that only takes long is not, because its parts would take long too. Splitting
 * takes no longer than one request may: many large responses must not delay the rest of the batch.
 */
export class JsonRpcNode {
  private readonly pool: Pool;
  private readonly slots = { batches: new Slots(CONNECTIONS), alone: new Slots(CONNECTIONS) };
  private readonly path: string;
  private readonly headers: Readonly<Record<string, string>>;

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

  /** One response per call, in order. Never rejects. */
  async ask(calls: readonly RpcCall[], options: AskOptions = {}): Promise<readonly RpcResponse[]> {
    return (
      await Promise.all(parts(calls, options.batch ?? BATCH_CALLS, (part) => this.part(part, options)))
    ).flat();
  }

  async close(): Promise<void> {
    await this.pool.destroy();
  }

  /** `until`: what is left of the time for the parts of a batch that failed, by the clock that never jumps. */
  private async part(
    calls: readonly RpcCall[],
    options: AskOptions,
    until = Infinity,
  ): Promise<readonly RpcResponse[]> {
    const slots = options.batch === 1 ? this.slots.alone : this.slots.batches;
    const responses = [...(await slots.run(() => this.send(calls, options, until)))];
    if (calls.length === 1) return responses;
    const again = responses.flatMap((response, place) => (worthAsking(response) ? [place] : []));
    const end = Math.min(until, performance.now() + (options.timeoutMs ?? TIMEOUT_MS));
    const size = Math.ceil(calls.length / PARTS);
    const repeated = parts(again, size, (places) =>
      this.part(
        places.map((place) => calls[place]!),
        options,
        end,
      ),
    );
    (await Promise.all(repeated)).flat().forEach((response, n) => (responses[again[n]!] = response));
    return responses;
  }

  private async send(
    calls: readonly RpcCall[],
    options: AskOptions,
    until: number,
  ): Promise<readonly RpcResponse[]> {
    const { maxBytes = Math.min(RESPONSE_BYTES + calls.length * CALL_BYTES, MAX_BYTES) } = options;
    const requests = calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call }));
    const refuse = (kind: RpcRefusal['kind'], message: string): readonly RpcResponse[] =>
      calls.map(() => ({ refused: { kind, message } }));
    const timeoutMs = Math.floor(Math.min(options.timeoutMs ?? TIMEOUT_MS, until - performance.now()));
    if (timeoutMs <= 0) return refuse('slow', 'no time left to ask for each alone');
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const { statusCode, body } = await this.pool.request({
        method: 'POST',
        path: this.path,
        headers: this.headers,
        body: JSON.stringify(requests.length === 1 ? requests[0] : requests),
        signal,
      });
      if (statusCode !== 200) {
        body.on('error', () => undefined).destroy();
        const denied = statusCode === 401 || statusCode === 403 || statusCode === 429;
        return refuse(denied ? 'denied' : 'error', httpMessage(statusCode));
      }
      const text = await readCapped(body, maxBytes);
      if (text === null) return refuse('too_large', `more than ${maxBytes} bytes`);
      return responsesIn(text, calls.length, options.texts === true);
    } catch (error) {
      // The cause may hold the node's address, and with it a key.
      if (signal.aborted) return refuse('slow', `no response within ${timeoutMs} ms`);
      if (error instanceof SyntaxError) return refuse('nonsense', 'no JSON');
      return refuse('unavailable', 'no connection');
    }
  }
}

function worthAsking(response: RpcResponse): boolean {
  return 'refused' in response && response.refused.kind !== 'denied' && response.refused.kind !== 'slow';
}

function httpMessage(status: number): string {
  if (status === 401 || status === 403) return `HTTP ${status}: the node does not accept the credentials`;
  if (status === 429) return 'HTTP 429: too many requests for the node';
  return `HTTP ${status}`;
}

/** Responses of a batch come in any order; what belongs to no call, or to one that has one already, says nothing. */
function responsesIn(text: string, count: number, texts: boolean): readonly RpcResponse[] {
  const said = JSON.parse(text) as unknown;
  const sent = texts ? resultTexts(text) : [];
  const responses: RpcResponse[] = Array.from({ length: count }, () => nonsense('no response to this call'));
  const seen = new Set<number>();
  for (const [place, each] of (Array.isArray(said) ? (said as unknown[]) : [said]).entries()) {
    if (typeof each !== 'object' || each === null) continue;
    const { id, result, error } = each as { id?: unknown; result?: unknown; error?: unknown };
    if (typeof id !== 'number' || !(id in responses)) continue;
    if (seen.has(id)) responses[id] = nonsense('two responses to one call');
    else if (error !== undefined && error !== null) responses[id] = errorResponse(error);
    else if (result !== undefined) responses[id] = { result, text: sent[place] };
    seen.add(id);
  }
  return responses;
}

/** The text of each response's `result` in the text of a batch, or of the one response that there is. */
function resultTexts(json: string): readonly (string | undefined)[] {
  const texts: (string | undefined)[] = [];
  const read = (at: number): number => {
    let result: string | undefined;
    const end = eachMember(json, at, (key, start) => {
      const memberEnd = endOfValue(json, start);
      if (key === 'result') result = json.slice(start, memberEnd);
      return memberEnd;
    });
    texts.push(result);
    return end > at ? end : endOfValue(json, at);
  };
  if (json.trimStart().startsWith('[')) eachElement(json, 0, read);
  else read(0);
  return texts;
}

function nonsense(message: string): RpcResponse {
  return { refused: { kind: 'nonsense', message } };
}

/** -32005 is the error that providers give for single calls over a limit of rate. */
function errorResponse(error: unknown): RpcResponse {
  const { code } = error as { code?: unknown };
  const message = typeof code === 'number' ? `error ${code}` : 'an error';
  return { refused: { kind: code === -32005 || code === 429 ? 'denied' : 'error', message } };
}

function parts<T, R>(all: readonly T[], size: number, each: (part: readonly T[]) => R): R[] {
  const results: R[] = [];
  for (let from = 0; from < all.length; from += size) results.push(each(all.slice(from, from + size)));
  return results;
}

/** Lets so many tasks run at a time; the others wait. */
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

/** The text of a body; null, and the connection is closed, as soon as it has more than `maxBytes`. */
async function readCapped(body: Readable, maxBytes: number): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // The return destroys the body.
    if (bytes > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
