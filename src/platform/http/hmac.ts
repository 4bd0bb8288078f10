import { createHash, createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { upTo } from '../cache-size.js';

const SIGNATURE = /^[0-9a-f]{64}$/;

/** The cache of secrets as KeyObjects. Creating them for each check would double its cost. */
const keys = new LRUCache<string, KeyObject>({
  ...upTo(10_000),
  memoMethod: (secret) => createSecretKey(secret, 'utf8'),
});

/** HMAC-SHA256 of prefix and body; the HMAC key is the UTF-8 bytes of the secret. */
export function sign(secret: string, prefix: string, body: Buffer): Buffer {
  return createHmac('sha256', keys.memo(secret)).update(prefix, 'utf8').update(body).digest();
}

/** Returns the index of the secret that created the signature (lower-case hex), or -1. Compares in constant time. */
export function signerAmong(
  secrets: readonly string[],
  signature: string,
  prefix: string,
  body: Buffer,
): number {
  if (!SIGNATURE.test(signature)) return -1;
  const given = Buffer.from(signature, 'hex');
  return secrets.map((secret) => timingSafeEqual(given, sign(secret, prefix, body))).lastIndexOf(true);
}

/** The digest of a body in the request log's string to sign (admin-api.md 3). */
export function bodyDigest(body: Buffer | string): string {
  const hash = createHash('sha256').update(body).digest('hex');
  return `sha256:${hash} (${Buffer.byteLength(body)} bytes)`;
}
