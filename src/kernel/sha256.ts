import { hash } from 'node:crypto';

/** Hashes bytes, or a text as UTF-8. */
export function sha256(content: string | Uint8Array): Buffer {
  // This takes a third of the time of a digest into a buffer.
  return Buffer.from(hash('sha256', content, 'binary'), 'latin1');
}
