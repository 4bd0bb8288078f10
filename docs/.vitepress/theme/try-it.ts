import { signAddress, signExchangeCall, signMerchantCall } from '../../../packages/sdk/src/signing.js';

/** What a form needs of its operation; scripts/docs/operation-page.mjs writes it. */
export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly credentials: 'merchant' | 'exchange' | 'exchange-headers' | null;
}

/** Keys as they are in the fields of the page. Nothing else holds them: a reload forgets them. */
export interface Keys {
  apiKey: string;
  privateKey: string;
  exchangeKey: string;
  exchangeSecret: string;
}

export interface Given {
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body: string;
  /** Of an action on an order: what its signature covers. */
  readonly orderAddress: string;
  readonly idempotencyKey: string;
}

export interface Received {
  readonly status: string;
  readonly isError: boolean;
  readonly headers: readonly string[];
  readonly body: string;
}

/** Headers that a reader learns something from. */
const DISPLAYED = ['request-id', 'idempotent-replayed', 'ratelimit', 'retry-after', 'etag'];

/** Signs the call with the keys, sends it to the service at `origin`, and returns the response as it is displayed. */
export async function sendCall(
  origin: string,
  operation: Operation,
  given: Given,
  keys: Keys,
): Promise<Received> {
  const { method, path, credentials } = operation;
  const url = new URL(
    path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(given.path[name] ?? '')),
    origin,
  );
  for (const [name, value] of Object.entries(given.query))
    if (value !== '') url.searchParams.set(name, value);
  const body = new TextEncoder().encode(given.body);
  const headers = new Headers(given.body === '' ? {} : { 'content-type': 'application/json' });
  if (method !== 'GET' && credentials !== null) {
    const key = given.idempotencyKey.trim() || crypto.randomUUID();
    headers.set('idempotency-key', `"${key.replaceAll('"', '')}"`);
  }
  const outgoing = { method, url, headers, body };
  if (credentials === 'merchant') {
    const [apiKey, privateKey] = [keys.apiKey.trim(), keys.privateKey.trim()];
    // Without keys the 401 says which headers are missing.
    if (apiKey !== '' && privateKey !== '') await signMerchantCall({ apiKey, privateKey }, outgoing);
  } else if (credentials !== null) {
    const secret = keys.exchangeSecret.trim();
    if (secret !== '' && given.orderAddress !== '')
      url.searchParams.set('signature', await signAddress(secret, given.orderAddress.trim()));
    const signing = secret === '' ? {} : { secret };
    await signExchangeCall({ apiKey: keys.exchangeKey.trim(), ...signing }, outgoing);
  }
  const response = await fetch(url, { method, headers, ...(body.length === 0 ? {} : { body }) });
  return {
    status: `${response.status} ${response.statusText}`,
    isError: response.status >= 400,
    headers: DISPLAYED.flatMap((name) => {
      const value = response.headers.get(name);
      return value === null ? [] : [`${name}: ${value}`];
    }),
    body: indented(await response.text()),
  };
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
