import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';

const SIGNATURE = /^[0-9a-f]{64}$/;

/** Secrets as KeyObjects: creating them for each check would double its cost. */
const keys = new LRUCache<string, KeyObject>({
  max: 10_000,
  memoMethod: (secret) => createSecretKey(secret, 'utf8'),
});

/** HMAC-SHA256 of prefix and body; the HMAC key is the UTF-8 bytes of the secret. */
export function sign(secret: string, prefix: string, body: Buffer): Buffer {
  return createHmac('sha256', keys.memo(secret)).update(prefix, 'utf8').update(body).digest();
}

/** Whether one of the secrets created the signature (lower-case hex), compared in constant time. */
export function isSignedBy(
  secrets: readonly string[],
  signature: string,
  prefix: string,
  body: Buffer,
): boolean {
  if (!SIGNATURE.test(signature)) return false;
  const given = Buffer.from(signature, 'hex');
  return secrets.filter((secret) => timingSafeEqual(given, sign(secret, prefix, body))).length > 0;
}
