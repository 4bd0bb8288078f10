import { createHash, createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { upTo } from '../../../platform/cache-size.js';

const SIGNATURE = /^[0-9a-f]{64}$/;

/** Secrets as KeyObjects: creating them for each check would double its cost. */
const keys = new LRUCache<string, KeyObject>({
  ...upTo(10_000),
  memoMethod: (secret) => createSecretKey(secret, 'utf8'),
});

/** HMAC-SHA256 of prefix and body; the HMAC key is the UTF-8 bytes of the secret. */
export function sign(secret: string, prefix: string, body: Buffer): Buffer {
  return createHmac('sha256', keys.memo(secret)).update(prefix, 'utf8').update(body).digest();
}

/** Which of the secrets created the signature (lower-case hex), compared in constant time; -1: none. */
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

/** Whether one of the secrets created the signature, see {@link signerAmong}. */
export function isSignedBy(
  secrets: readonly string[],
  signature: string,
  prefix: string,
  body: Buffer,
): boolean {
  return signerAmong(secrets, signature, prefix, body) >= 0;
}

/** A body, as the request log keeps what was to be signed (admin-api.md 3). */
export function bodyDigest(body: Buffer | string): string {
  const hash = createHash('sha256').update(body).digest('hex');
  return `sha256:${hash} (${Buffer.byteLength(body)} bytes)`;
}
