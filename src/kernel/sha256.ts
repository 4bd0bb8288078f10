import { hash } from 'node:crypto';

/** SHA-256 of bytes, or of a text as UTF-8. */
export function sha256(content: string | Uint8Array): Buffer {
  return hash('sha256', content, 'buffer');
}
