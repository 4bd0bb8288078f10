import { createHash } from 'node:crypto';
import type { PagePlace } from '../database/created-page.js';

const VERSION = 1;
/** PostgreSQL reads the times of JavaScript up to the year 9999. */
const LATEST = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
const CHECK_BYTES = 3;
const LENGTH = 1 + 6 + 16 + CHECK_BYTES;

/**
 * The opaque `next_cursor`: version, milliseconds and id, with a checksum that tells a cursor from other text.
 * It is only a place in the one order of a list, so it stays good under other filters and page sizes.
 */
export function encodeCursor(place: PagePlace): string {
  const bytes = Buffer.alloc(LENGTH);
  bytes.writeUInt8(VERSION, 0);
  bytes.writeUIntBE(place.createdAt.getTime(), 1, 6);
  bytes.write(place.id.replaceAll('-', ''), 7, 'hex');
  checksum(bytes).copy(bytes, LENGTH - CHECK_BYTES);
  return bytes.toString('base64url');
}

/** The place a cursor stands for; null when the text is no cursor of ours. */
export function decodeCursor(text: string): PagePlace | null {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length !== LENGTH || bytes.toString('base64url') !== text || bytes[0] !== VERSION) return null;
  if (!checksum(bytes).equals(bytes.subarray(LENGTH - CHECK_BYTES))) return null;
  if (bytes.readUIntBE(1, 6) > LATEST) return null;
  const hex = bytes.toString('hex', 7, 23);
  const id = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join(
    '-',
  );
  return { createdAt: new Date(bytes.readUIntBE(1, 6)), id };
}

function checksum(bytes: Buffer): Buffer {
  return createHash('sha256')
    .update(bytes.subarray(0, LENGTH - CHECK_BYTES))
    .digest()
    .subarray(0, CHECK_BYTES);
}
