import { jest } from '@jest/globals';
import { Disburse, DisburseExchange, type ApiError, type ExpectedPayout } from '../src/index.js';
import type { reconcile } from '../src/reconcile.js';

/** A response, or a cut connection. */
export interface Step {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly cut?: true;
}

type Listed = Parameters<typeof reconcile>[0] extends AsyncIterable<infer Payout> ? Payout : never;
type Case<Members> = readonly ({ readonly name: string } & Members)[];

/** packages/cases/cases.json. */
export interface Recorded {
  readonly merchant_signatures: Case<
    Record<'secret' | 'seconds' | 'method' | 'path' | 'body_base64' | 'signed_base64' | 'signature', string>
  >;
  readonly address_signatures: Case<Record<'secret' | 'address' | 'signature', string>>;
  readonly query_signatures: Case<
    Record<'secret' | 'path' | 'signature', string> & { query: [string, string][] }
  >;
  readonly own_ids: Case<Record<'id' | 'method' | 'path' | 'key', string>>;
  readonly retries: Case<
    Required<Pick<Step, 'status' | 'headers' | 'body'>> &
      Record<'attempt' | 'max_wait_ms' | 'now_ms', number> &
      Record<'at_least' | 'at_most', number | null>
  >;
  readonly attempts: Case<{
    steps: readonly Step[];
    attempts: number;
    outcome: string;
    waits: readonly [number, number][];
    sent: number;
  }>;
  readonly pages: Case<{
    first: string | null;
    bodies: readonly object[];
    cursors: readonly (string | null)[];
    ids: readonly string[];
  }>;
  readonly webhooks: Case<{
    secrets: readonly string[];
    headers: Readonly<Record<string, string>>;
    body: string;
    now: number;
    reason: string | null;
  }>;
  readonly results: Case<
    Step & { expected: { data: unknown; status: number; request_id: string | null; replayed: boolean } }
  >;
  readonly errors: Case<Step & { expected: object }>;
  readonly hints: Case<{ signed_base64: string; body: string; hint: string | null }>;
  readonly reconciliations: Case<{
    own: readonly ExpectedPayout[];
    listed: readonly Listed[];
    expected: object;
  }>;
  readonly calls: Case<{
    client: 'merchant' | 'exchange';
    operation: string;
    id?: string;
    address?: string;
    body?: object;
    query: object;
    own_id?: string;
    now: number;
    api_key: string;
    secret: string | null;
    expected: {
      method: string;
      path: string;
      query: [string, string][];
      headers: Readonly<Record<string, string>>;
      body: string;
    };
  }>;
}

export const bytesOf = (base64: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.from(base64, 'base64'));

/** Runs at a fixed time with fixed random numbers. */
export function at<Value>(nowMs: number, random: number, run: () => Value): Value {
  const spies = [
    jest.spyOn(Date, 'now').mockReturnValue(nowMs),
    jest.spyOn(Math, 'random').mockReturnValue(random),
  ];
  try {
    return run();
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

/** Runs with waits that end at once, and records their lengths in milliseconds. */
export async function waiting<Value>(run: () => Promise<Value>): Promise<{ value: Value; waited: number[] }> {
  const waited: number[] = [];
  const original = globalThis.setTimeout;
  const spy = jest.spyOn(globalThis, 'setTimeout').mockImplementation(((
    done: () => void,
    ms: number,
    ...given: []
  ) => {
    // Suites share one realm: timers of an earlier suite are not the client's.
    if (!/[\\/]transport\.[jt]s/.test(new Error().stack ?? '')) return original(done, ms, ...given);
    waited.push(ms);
    setImmediate(done);
  }) as typeof setTimeout);
  try {
    return { value: await run(), waited };
  } finally {
    spy.mockRestore();
  }
}

export const errorOf = (error: unknown): ApiError => error as ApiError;

/** Both clients for a service that responds with these steps, and what they send. */
export function clientOf(steps: readonly Step[], attempts = 1, apiKey = 'pk', secret: string | null = 'sk') {
  const requests: { url: URL; method: string; headers: Headers; body: string }[] = [];
  const left = [...steps];
  const send = async (url: URL, init: RequestInit): Promise<Response> => {
    const body = init.body ? new TextDecoder().decode(init.body as Uint8Array) : '';
    requests.push({ url, method: init.method!, headers: init.headers as Headers, body });
    const { status = 200, headers = {}, body: text = '', cut } = left.shift()!;
    if (cut) throw new TypeError('fetch failed');
    // The fetch standard requires this rejection.
    if (init.redirect === 'error' && status >= 300 && status < 400) throw new TypeError('redirect');
    return new Response(text === '' ? null : text, { status, headers });
  };
  const options = { baseUrl: 'http://localhost', apiKey, attempts, fetch: send as unknown as typeof fetch };
  return {
    client: new Disburse({ ...options, privateKey: secret ?? 'unused' }),
    exchange: new DisburseExchange({ ...options, ...(secret === null ? {} : { secret }) }),
    requests,
  };
}
