import { createHmac } from 'node:crypto';
import type { Credentials } from '../../test/support/http/signed-client.js';

export type { Credentials };

export interface SignedRequest {
  readonly method: 'GET' | 'POST';
  /** Path with query. */
  readonly path: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Signs as contract.md 2.2 says: timestamp, method, path without query, body. */
export function signed(
  who: Credentials,
  method: 'GET' | 'POST',
  path: string,
  body = '',
  more: Readonly<Record<string, string>> = {},
): SignedRequest {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', who.privateKey)
    .update(`${timestamp}\n${method}\n${path.split('?')[0]!}\n${body}`)
    .digest('hex');
  return {
    method,
    path,
    body,
    headers: {
      'svc-api-key': who.apiKey,
      'svc-timestamp': timestamp,
      'svc-signature': signature,
      ...(body === '' ? {} : { 'content-type': 'application/json' }),
      ...more,
    },
  };
}

/** Sends one signed call and returns its parsed body. Throws on any status but `expected`. */
export async function call(
  base: string,
  who: Credentials,
  method: 'GET' | 'POST',
  path: string,
  expected: number,
  body?: unknown,
): Promise<unknown> {
  const text = body === undefined ? '' : JSON.stringify(body);
  const request = signed(who, method, path, text);
  const response = await fetch(base + path, {
    method,
    headers: request.headers,
    ...(text === '' ? {} : { body: text }),
  });
  const received = await response.text();
  if (response.status !== expected) throw new Error(`${method} ${path}: ${response.status} ${received}`);
  return received === '' ? null : JSON.parse(received);
}
