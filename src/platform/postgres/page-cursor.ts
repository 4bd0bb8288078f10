import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { toUuid } from '../../kernel/ids.js';
import { isoOfMicroseconds, microsecondsOfIso } from '../../kernel/instant.js';

/** A place in a list whose newest item is first. */
export interface PagePlace {
  /** The time in ISO 8601 in UTC, with microseconds. */
  readonly time: string;
  readonly id: string;
}

const VERSION = 2;
/** The limits of times that both PostgreSQL and JavaScript read. */
const EARLIEST = BigInt(Date.parse('0001-01-01T00:00:00Z')) * 1000n;
const LATEST = BigInt(Date.UTC(9999, 11, 31, 23, 59, 59, 999)) * 1000n + 999n;
const TIME_BYTES = 8;
const ID_BYTES = 16;
const BODY_BYTES = 1 + TIME_BYTES + ID_BYTES;
const CHECK_BYTES = 3;
/** The suffix of cursors within {@link withinList}: a checksum of the list. */
const currentList = new AsyncLocalStorage<string>();

/** Runs `work`, whose cursors are valid only for `list`, the path and the filters of a list. */
export function withinList<T>(list: readonly unknown[], work: () => T): T {
  return currentList.run(checksum(Buffer.from(JSON.stringify(list))).toString('base64url'), work);
}

/** The opaque `next_cursor`: version, microseconds, id, checksum and the list of `withinList`. */
export function encodeCursor(time: Date | string, id: string): string {
  const body = Buffer.alloc(BODY_BYTES, VERSION);
  body.writeBigInt64BE(
    typeof time === 'string' ? microsecondsOfIso(time) : BigInt(time.getTime()) * 1000n,
    1,
  );
  body.write(id.replaceAll('-', ''), 1 + TIME_BYTES, 'hex');
  return Buffer.concat([body, checksum(body)]).toString('base64url') + (currentList.getStore() ?? '');
}

export function decodeCursor(cursor: string): PagePlace | null {
  const list = currentList.getStore() ?? '';
  if (!cursor.endsWith(list)) return null;
  const text = cursor.slice(0, cursor.length - list.length);
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length !== BODY_BYTES + CHECK_BYTES || bytes.toString('base64url') !== text) return null;
  const body = bytes.subarray(0, BODY_BYTES);
  if (body[0] !== VERSION || !checksum(body).equals(bytes.subarray(BODY_BYTES))) return null;
  const time = body.readBigInt64BE(1);
  if (time < EARLIEST || time > LATEST) return null;
  return { time: isoOfMicroseconds(time), id: toUuid(body.subarray(1 + TIME_BYTES)) };
}

function checksum(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest().subarray(0, CHECK_BYTES);
}
