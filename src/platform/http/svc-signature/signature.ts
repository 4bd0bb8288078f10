import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Problem } from '../problem.js';

/** How far `svc-timestamp` may be from server time, either way, in seconds (contract.md 2.4). */
const MAX_DRIFT_SECONDS = 300;

const UNIX_SECONDS = /^[0-9]{1,12}$/;
const SIGNATURE = /^[0-9a-f]{64}$/;

/** What is signed, apart from the body: timestamp, method and path, each followed by LF (contract.md 2.2). */
export function signedPrefix(timestamp: string, method: string, path: string): string {
  return `${timestamp}\n${method}\n${path}\n`;
}

/** Private keys as KeyObjects: creating them for each check would double its cost. */
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
  return createHmac('sha256', keyOf(privateKey)).update(prefix, 'utf8').update(body).digest();
}

/** Whether one of the keys created the signature, compared in constant time. */
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

/** Contains the server's time, so that a client sees its drift, and detects milliseconds. */
export function timestampDrift(timestamp: string, now: number): Problem {
  const detail =
    'svc-timestamp must be Unix seconds within 5 minutes of server time, which is ' +
    String(Math.floor(now / 1000));
  const inMilliseconds = /^[0-9]{13}$/.test(timestamp) && isFresh(timestamp.slice(0, -3), now);
  return { status: 401, detail: inMilliseconds ? `${detail}; it was sent in milliseconds` : detail };
}
