import { createHash } from 'node:crypto';
import type { ExactPlace, PagePlace } from '../postgres/created-page.js';

/** Of places in milliseconds, and of places in microseconds. */
const VERSION = 1;
const EXACT_VERSION = 2;
/** PostgreSQL reads the times of JavaScript up to the year 9999. */
const LATEST = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
const EARLIEST_EXACT = BigInt(Date.parse('0001-01-01T00:00:00Z')) * 1000n;
const LATEST_EXACT = BigInt(LATEST) * 1000n + 999n;
const CHECK_BYTES = 3;
const ID_BYTES = 16;
const TIME_BYTES = 6;
const EXACT_TIME_BYTES = 8;

/**
 * The opaque `next_cursor`: version, milliseconds and id, with a checksum that rejects other text.
 * It is only a place in the one order of a list, so it stays good under other filters and page sizes.
 */
export function encodeCursor(place: PagePlace): string {
  const time = Buffer.alloc(TIME_BYTES);
  time.writeUIntBE(place.createdAt.getTime(), 0, TIME_BYTES);
  return encode(VERSION, time, place.id);
}

/** The place of a cursor; null when the text is no cursor of ours. */
export function decodeCursor(text: string): PagePlace | null {
  const place = decode(text, VERSION, TIME_BYTES);
  if (place === null) return null;
  const milliseconds = place.time.readUIntBE(0, TIME_BYTES);
  return milliseconds > LATEST ? null : { createdAt: new Date(milliseconds), id: place.id };
}

/** As {@link encodeCursor}, of a place that is exact to the microsecond and may lie before 1970. */
export function encodeExactCursor(place: ExactPlace): string {
  const time = Buffer.alloc(EXACT_TIME_BYTES);
  time.writeBigInt64BE(place.microseconds);
  return encode(EXACT_VERSION, time, place.id);
}

/** The place of {@link encodeExactCursor}; null when the text is no such cursor. */
export function decodeExactCursor(text: string): ExactPlace | null {
  const place = decode(text, EXACT_VERSION, EXACT_TIME_BYTES);
  if (place === null) return null;
  const microseconds = place.time.readBigInt64BE();
  const exists = microseconds >= EARLIEST_EXACT && microseconds <= LATEST_EXACT;
  return exists ? { microseconds, id: place.id } : null;
}

function encode(version: number, time: Buffer, id: string): string {
  const body = Buffer.concat([Buffer.from([version]), time, Buffer.from(id.replaceAll('-', ''), 'hex')]);
  return Buffer.concat([body, checksum(body)]).toString('base64url');
}

function decode(text: string, version: number, timeBytes: number): { time: Buffer; id: string } | null {
  const bytes = Buffer.from(text, 'base64url');
  const length = 1 + timeBytes + ID_BYTES;
  if (bytes.length !== length + CHECK_BYTES || bytes.toString('base64url') !== text) return null;
  const body = bytes.subarray(0, length);
  if (body[0] !== version || !checksum(body).equals(bytes.subarray(length))) return null;
  const hex = body.toString('hex', 1 + timeBytes);
  const id = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join(
    '-',
  );
  return { time: body.subarray(1, 1 + timeBytes), id };
}

function checksum(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest().subarray(0, CHECK_BYTES);
}
