import { createHash, randomUUID } from 'node:crypto';
import { tidy } from './typed-text.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const NIL_UUID = '00000000-0000-0000-0000-000000000000';

/** Checks for an RFC 9562 UUID with hyphens, in either letter case. */
export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && UUID.test(value);
}

/** Parses a UUID after `tidy` and returns it in lower case, or null. */
export function readUuid(value: unknown): string | null {
  const id = typeof value === 'string' && !UUID.test(value) ? tidy(value) : value;
  return isUuid(id) ? id.toLowerCase() : null;
}

export function newId(): string {
  return randomUUID();
}

/** Derives an id (UUID v8 over SHA-256), so that a retry with the same key finds the same aggregate. */
export function deriveId(...parts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:${part};`);
  const bytes = hash.digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return toUuid(bytes);
}

export function toUuid(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
