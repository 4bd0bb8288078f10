import createClient, { defaultPathSerializer, type Client } from 'openapi-fetch';
import type { paths } from './generated/document.js';
import { retryingFetch, type RetryOptions, type Sign } from './transport.js';
import type { Result, WriteOptions } from './types.js';
import { idempotencyKeyOf } from './signing.js';

export interface ClientOptions extends RetryOptions {
  /** The base URL of the API, such as `https://api.example.com`. */
  readonly baseUrl: string;
}

interface Credentials {
  readonly apiKey: string;
  readonly privateKey?: string;
}

export type Api = Client<paths, 'application/json'>;

/** The header with the caller's id of a write, which is replaced before the write is sent. */
const OWN_ID = 'disburse-own-id';

/** Creates the typed client of all paths. Calls are signed and retried; writes have an Idempotency-Key. */
export function createApi(options: ClientOptions & Credentials, sign: Sign): Api {
  for (const name of ['baseUrl', 'apiKey', 'privateKey'] as const) {
    // A variable of the environment that is not set, or is empty.
    if (name in options && !options[name]) throw new TypeError(`${name} is missing`);
  }
  const send = retryingFetch(sign, options);
  return createClient<paths>({
    baseUrl: options.baseUrl.replace(/\/+$/, ''),
    fetch: async (request: Request) => send(await withKey(request)),
    pathSerializer: (path, parameters) => {
      for (const [name, value] of Object.entries(parameters)) requireSegment(name, value);
      return defaultPathSerializer(path, parameters);
    },
  });
}

/** Throws a TypeError for an empty segment, `.` or `..`, because the URL would name another operation. */
function requireSegment(name: string, value: unknown): void {
  if (typeof value === 'string' && !/^\.{0,2}$/.test(value)) return;
  const found = typeof value === 'string' ? JSON.stringify(value) : typeof value;
  throw new TypeError(`${found} is not a valid ${name}: expected a text that is not empty, "." or ".."`);
}

async function withKey(unsorted: Request): Promise<Request> {
  if (unsorted.method === 'GET') return unsorted;
  const url = new URL(unsorted.url);
  // The exchange API has its inputs in the query: the same ones in any order are the same write.
  const isInQuery = url.pathname.startsWith('/v1/');
  if (isInQuery) url.searchParams.sort();
  const request = isInQuery ? new Request(url, unsorted) : unsorted;
  const id = request.headers.get(OWN_ID);
  const path = isInQuery ? url.pathname + url.search : url.pathname;
  const key =
    id === null ? crypto.randomUUID() : await idempotencyKeyOf(decodeURIComponent(id), request.method, path);
  request.headers.delete(OWN_ID);
  request.headers.set('idempotency-key', `"${key}"`);
  return request;
}

/** Returns the options of an `Api` call for the options of a write. */
export function writing({ idempotencyKey, signal }: WriteOptions = {}): {
  headers?: Record<string, string>;
  signal?: AbortSignal;
} {
  return {
    ...(idempotencyKey === undefined ? {} : { headers: { [OWN_ID]: encodeURIComponent(idempotencyKey) } }),
    ...(signal === undefined ? {} : { signal }),
  };
}

/** Returns the result of an `Api` call. Rejects with an `ApiError` or a `ConnectionError`. */
export async function resultOf<Data>(
  call: Promise<{ data?: Data; response: Response }>,
): Promise<Result<Data>> {
  const { data, response } = await call;
  return {
    data: data as Data,
    status: response.status,
    requestId: response.headers.get('request-id'),
    replayed: response.headers.get('idempotent-replayed') === 'true',
  };
}
