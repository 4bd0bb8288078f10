import type { Outgoing } from './transport.js';

const UTF8 = new TextEncoder();

/** Returns the HMAC-SHA256 in lower-case hex. */
export async function hmacHex(secret: string, signed: Uint8Array<ArrayBuffer>): Promise<string> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', UTF8.encode(secret), algorithm, false, ['sign']);
  return hex(await crypto.subtle.sign('HMAC', key, signed));
}

/** Returns the bytes that a call signs: Unix seconds, method and path, each with LF, then the sent body. */
export function stringToSign(
  seconds: string,
  method: string,
  path: string,
  body: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const prefix = UTF8.encode(`${seconds}\n${method}\n${path}\n`);
  const bytes = new Uint8Array(prefix.length + body.length);
  bytes.set(prefix);
  bytes.set(body, prefix.length);
  return bytes;
}

/** Returns `signature` of the exchange API, which covers only the address (docs/contract.md 21.3). */
export function signAddress(secret: string, address: string): Promise<string> {
  return hmacHex(secret, UTF8.encode(`withdraw_address=${address}`));
}

/** Returns `signature_v2`, which covers the path and all other parameters of the query. */
export function signQuery(secret: string, path: string, query: URLSearchParams): Promise<string> {
  const pairs = [...query].filter(([name]) => name !== 'signature_v2');
  const encoded = pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).sort(byBytes);
  return hmacHex(secret, UTF8.encode(`${path}?${encoded.join('&')}`));
}

/** Adds the headers of the merchant API, and returns the bytes that were signed. */
export async function signMerchantCall(
  { apiKey, privateKey }: { readonly apiKey: string; readonly privateKey: string },
  { method, url, headers, body }: Outgoing,
): Promise<Uint8Array> {
  const seconds = String(Math.floor(Date.now() / 1000));
  const signed = stringToSign(seconds, method, url.pathname, body);
  headers.set('svc-api-key', apiKey);
  headers.set('svc-timestamp', seconds);
  headers.set('svc-signature', await hmacHex(privateKey, signed));
  return signed;
}

/**
 * Signs a call of the exchange API. The list of orders has its signature in a header. Any other call with an
 * address has `signature_v2`, which covers the whole query.
 */
export async function signExchangeCall(
  { apiKey, secret }: { readonly apiKey: string; readonly secret?: string },
  { url, headers }: Outgoing,
): Promise<null> {
  if (url.pathname === '/v1/merchant/orders') {
    headers.set('x-api-key', apiKey);
    if (secret !== undefined) headers.set('x-signature', await signAddress(secret, ''));
    return null;
  }
  url.searchParams.set('api_key', apiKey);
  if (secret !== undefined && url.searchParams.has('withdraw_address'))
    url.searchParams.set('signature_v2', await signQuery(secret, url.pathname, url.searchParams));
  return null;
}

/** Percent-encodes all characters except letters, digits and `-._~`. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Compares encoded names. They are ASCII, so the order of code units is that of bytes. */
function byBytes(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Derives the Idempotency-Key from the caller's own id, the method and the path. A UUID is used as it is. */
export async function idempotencyKeyOf(id: string, method: string, path: string): Promise<string> {
  if (UUID.test(id)) return id.toLowerCase();
  const digest = new Uint8Array(
    await crypto.subtle.digest('SHA-256', UTF8.encode(`${method} ${path}\n${id}`)),
  );
  // Version and variant of a uuid that is named by a hash (RFC 9562, version 8).
  digest[6] = (digest[6]! & 0x0f) | 0x80;
  digest[8] = (digest[8]! & 0x3f) | 0x80;
  const text = hex(digest.slice(0, 16).buffer);
  return [0, 8, 12, 16, 20].map((from, n, all) => text.slice(from, all[n + 1] ?? 32)).join('-');
}

function hex(bytes: ArrayBuffer): string {
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
