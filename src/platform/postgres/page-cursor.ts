import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { uuidOf } from '../../kernel/ids.js';
import type { ExactPlace, PagePlace } from './list-page.js';

/** The first byte of a cursor, and how many bytes its time has. */
interface CursorKind {
  readonly version: number;
  readonly timeBytes: number;
}
const MILLISECONDS: CursorKind = { version: 1, timeBytes: 6 };
const MICROSECONDS: CursorKind = { version: 2, timeBytes: 8 };
/** PostgreSQL reads the times of JavaScript up to the year 9999. */
const LATEST = BigInt(Date.UTC(9999, 11, 31, 23, 59, 59, 999));
const EARLIEST_EXACT = BigInt(Date.parse('0001-01-01T00:00:00Z')) * 1000n;
const LATEST_EXACT = LATEST * 1000n + 999n;
const CHECK_BYTES = 3;
/** The suffix of the cursors of the present list. */
const currentList = new AsyncLocalStorage<string>();

/** Reads and writes cursors of one list alone while `work` runs. `list`: its path and filters. */
export function withinList<T>(list: readonly unknown[], work: () => T): T {
  return currentList.run(checksum(Buffer.from(JSON.stringify(list))).toString('base64url'), work);
}
const ID_BYTES = 16;

/**
 * The opaque `next_cursor`: version, milliseconds and id, with a checksum that rejects other text.
 * Within {@link withinList} it belongs to that list and its filters; page sizes may differ.
 */
export function encodeCursor({ createdAt, id }: PagePlace): string {
  return encode(MILLISECONDS, BigInt(createdAt.getTime()), id);
}

/** The place of a cursor; null when the text is no cursor of ours. */
export function decodeCursor(text: string): PagePlace | null {
  const place = decode(text, MILLISECONDS);
  if (place === null || place.time > LATEST) return null;
  return { createdAt: new Date(Number(place.time)), id: place.id };
}

/** As {@link encodeCursor}, of a place that is exact to the microsecond and may lie before 1970. */
export function encodeExactCursor({ microseconds, id }: ExactPlace): string {
  return encode(MICROSECONDS, microseconds, id);
}

/** The place of {@link encodeExactCursor}; null when the text is no such cursor. */
export function decodeExactCursor(text: string): ExactPlace | null {
  const place = decode(text, MICROSECONDS);
  if (place === null || place.time < EARLIEST_EXACT || place.time > LATEST_EXACT) return null;
  return { microseconds: place.time, id: place.id };
}

function encode({ version, timeBytes }: CursorKind, value: bigint, id: string): string {
  const time = Buffer.alloc(8);
  time.writeBigInt64BE(value);
  const key = Buffer.from(id.replaceAll('-', ''), 'hex');
  const body = Buffer.concat([Buffer.from([version]), time.subarray(-timeBytes), key]);
  return Buffer.concat([body, checksum(body)]).toString('base64url') + (currentList.getStore() ?? '');
}

function decode(cursor: string, { version, timeBytes }: CursorKind): { time: bigint; id: string } | null {
  const list = currentList.getStore() ?? '';
  if (!cursor.endsWith(list)) return null;
  const text = cursor.slice(0, cursor.length - list.length);
  const bytes = Buffer.from(text, 'base64url');
  const length = 1 + timeBytes + ID_BYTES;
  if (bytes.length !== length + CHECK_BYTES || bytes.toString('base64url') !== text) return null;
  const body = bytes.subarray(0, length);
  if (body[0] !== version || !checksum(body).equals(bytes.subarray(length))) return null;
  const time = Buffer.concat([Buffer.alloc(8 - timeBytes), body.subarray(1, 1 + timeBytes)]);
  return { time: time.readBigInt64BE(), id: uuidOf(body.subarray(1 + timeBytes)) };
}

function checksum(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest().subarray(0, CHECK_BYTES);
}
