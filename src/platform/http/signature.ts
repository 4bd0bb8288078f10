import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Problem } from './problem.js';

/** How far `svc-timestamp` may be from server time, either way, in seconds (merchant-api section 8). */
export const MAX_DRIFT_SECONDS = 300;

const UNIX_SECONDS = /^[0-9]{1,12}$/;
const SIGNATURE = /^[0-9a-f]{64}$/;

/** What is signed, apart from the body: timestamp, method and path, each followed by LF (merchant-api section 5). */
export function signedPrefix(timestamp: string, method: string, path: string): string {
  return `${timestamp}\n${method}\n${path}\n`;
}

/** Private keys in the form the HMAC takes them: making it anew would double the cost of a check. */
const keys = new LRUCache<string, KeyObject>({ max: 10_000 });

function keyOf(privateKey: string): KeyObject {
  let key = keys.get(privateKey);
  if (key === undefined) {
    key = createSecretKey(privateKey, 'utf8');
    keys.set(privateKey, key);
  }
  return key;
}

/** HMAC-SHA256 of prefix and body; the HMAC key is the UTF-8 bytes of the private key. */
export function sign(privateKey: string, prefix: string, body: Buffer): Buffer {
  const hmac = createHmac('sha256', keyOf(privateKey)).update(prefix, 'utf8');
  if (body.length > 0) hmac.update(body);
  return hmac.digest();
}

/** Whether one of the keys made the signature; the time it takes tells nothing of how much of it was right. */
export function isSignedBy(
  privateKeys: readonly string[],
  signature: string,
  prefix: string,
  body: Buffer,
): boolean {
  if (!SIGNATURE.test(signature)) return false;
  const given = Buffer.from(signature, 'hex');
  let matches = false;
  for (const key of privateKeys) {
    if (timingSafeEqual(given, sign(key, prefix, body))) matches = true;
  }
  return matches;
}

export function isFresh(timestamp: string, now: number): boolean {
  if (!UNIX_SECONDS.test(timestamp)) return false;
  return Math.abs(Math.floor(now / 1000) - Number(timestamp)) <= MAX_DRIFT_SECONDS;
}

export function missingHeaders(names: readonly string[]): Problem {
  return { status: 401, detail: `Missing required headers: ${names.join(', ')}` };
}

export const INVALID_API_KEY: Problem = { status: 401, detail: 'Invalid svc-api-key' };

export const TIMESTAMP_DRIFT: Problem = {
  status: 401,
  detail: 'svc-timestamp must be Unix seconds within 5 minutes of server time',
};

const MISMATCH = 'svc-signature does not match the request';
const LABEL = 'StringToSignBytes (hex, space-separated, lower-case):';

/** The mismatch answer as a problem, with the bytes that the server signed. */
export function signatureMismatch(prefix: string, body: Buffer): Problem {
  const bytes = Buffer.concat([Buffer.from(prefix, 'utf8'), body]);
  return { status: 401, detail: MISMATCH, members: { string_to_sign_bytes: [...bytes] } };
}

/** The mismatch answer for `Accept: text/plain`: detail, label line, bytes. */
export function signatureMismatchText(prefix: string, body: Buffer): string {
  const hex = Buffer.concat([Buffer.from(prefix, 'utf8'), body]).toString('hex');
  return `${MISMATCH}\n${LABEL}\n${hex.replace(/..(?=.)/g, '$& ')}`;
}

/** Whether the client would rather have text/plain than JSON: JSON wins a tie and is the default. */
export function prefersText(accept: string | undefined): boolean {
  if (accept === undefined || !/text\//i.test(accept)) return false;
  let text = 0;
  let json = 0;
  for (const part of accept.split(',')) {
    const [type = '', ...parameters] = part.split(';').map((each) => each.trim().toLowerCase());
    const weight = parameters.find((each) => each.startsWith('q='));
    const quality = weight === undefined ? 1 : Number(weight.slice(2)) || 0;
    if (type === 'text/plain' || type === 'text/*') text = Math.max(text, quality);
    if (/^application\/(json|problem\+json|\*)$/.test(type)) json = Math.max(json, quality);
  }
  return text > json;
}
