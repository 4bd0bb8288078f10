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
