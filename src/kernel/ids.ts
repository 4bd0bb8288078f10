import { createHash, randomUUID } from 'node:crypto';
import { tidy } from './typed-text.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** No id is before it in an order. */
export const NIL_UUID = '00000000-0000-0000-0000-000000000000';

/** True for any RFC 9562 uuid in the hyphenated form, in either letter case. */
export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && UUID.test(value);
}

/** The uuid of a {@link tidy} text, in lower case; null for what is none. */
export function readUuid(value: unknown): string | null {
  const id = typeof value === 'string' && !UUID.test(value) ? tidy(value) : value;
  return isUuid(id) ? id.toLowerCase() : null;
}

/** A fresh random id (uuid v4). */
export function newId(): string {
  return randomUUID();
}

/**
 * The id that always belongs to the same parts (uuid v8 over SHA-256): a retry under one Idempotency-Key
 * finds its own aggregate instead of creating a second one.
 */
export function deriveId(...parts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:${part};`);
  const bytes = hash.digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return toUuid(bytes);
}

/** 16 bytes as the hyphenated form of a uuid. */
export function toUuid(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
