import { createHmac } from 'node:crypto';
import { request } from 'undici';

export interface Credentials {
  readonly apiKey: string;
  readonly privateKey: string;
}

export interface SignedCall {
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  readonly path: string;
  /** An object is sent as JSON, text and bytes unchanged. */
  readonly body?: object | string | Buffer;
  /** A bare uuid, which the header quotes. */
  readonly idempotencyKey?: string;
  /** Headers that override the signed ones; null omits one. */
  readonly headers?: Readonly<Record<string, string | null>>;
  /** Seconds to add to the present time. */
  readonly timeShift?: number;
  readonly signal?: AbortSignal;
}

export interface ApiResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The exact text of the body. */
  readonly text: string;
  /** The parsed body. Throws if it is not JSON. Clients check its form against the OpenAPI document. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  json<T = any>(): T;
}

/** A merchant's client, which signs by contract.md 2.2 without the service's code. */
export class SignedClient {
  constructor(
    readonly baseUrl: string,
    readonly credentials: Credentials,
  ) {}

  async call(call: SignedCall): Promise<ApiResponse> {
    const method = call.method ?? 'GET';
    const body = bytesOf(call.body);
    const signed: Record<string, string | null> = {
      ...signingHeaders(this.credentials, method, call.path, body, call.timeShift),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(call.idempotencyKey === undefined ? {} : { 'idempotency-key': `"${call.idempotencyKey}"` }),
      ...call.headers,
    };
    const headers = Object.fromEntries(
      Object.entries(signed).filter((each): each is [string, string] => each[1] !== null),
    );
    return send(`${this.baseUrl}${call.path}`, { method, headers, body, signal: call.signal });
  }

  get(path: string, headers?: SignedCall['headers']): Promise<ApiResponse> {
    return this.call({ path, headers });
  }

  post(path: string, body?: SignedCall['body'], idempotencyKey?: string): Promise<ApiResponse> {
    return this.call({ method: 'POST', path, body, idempotencyKey });
  }
}

/** Sends one request without a signature. */
export async function send(
  url: string,
  options: {
    method?: string;
    headers?: Record<string, string>;
    body?: Buffer | string;
    signal?: AbortSignal | undefined;
  } = {},
): Promise<ApiResponse> {
  const response = await request(url, options as Parameters<typeof request>[1]);
  const text = await response.body.text();
  return {
    status: response.statusCode,
    headers: response.headers as Record<string, string>,
    text,
    json: <T>() => JSON.parse(text) as T,
  };
}

function bytesOf(body: SignedCall['body']): Buffer | undefined {
  if (body === undefined) return undefined;
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

/** Signs timestamp, method, path without query, and body (contract.md 2.2). */
export function signingHeaders(
  credentials: Credentials,
  method: string,
  path: string,
  body?: Buffer | string,
  timeShift = 0,
): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000) + timeShift);
  const hmac = createHmac('sha256', credentials.privateKey);
  hmac.update([timestamp, method, path.split('?')[0], ''].join('\n'));
  if (body !== undefined) hmac.update(body);
  return {
    'svc-api-key': credentials.apiKey,
    'svc-timestamp': timestamp,
    'svc-signature': hmac.digest('hex'),
  };
}
