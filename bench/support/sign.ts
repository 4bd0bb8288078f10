import { signingHeaders, type Credentials } from '../../test/support/http/signed-client.js';

export type { Credentials };

export interface SignedRequest {
  readonly method: 'GET' | 'POST';
  /** Path with query. */
  readonly path: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

export function signed(
  who: Credentials,
  method: 'GET' | 'POST',
  path: string,
  body = '',
  more: Record<string, string> = {},
): SignedRequest {
  const headers = { ...signingHeaders(who, method, path, body), ...more };
  if (body !== '') headers['content-type'] = 'application/json';
  return { method, path, body, headers };
}
