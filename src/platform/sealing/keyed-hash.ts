import { createHmac } from 'node:crypto';

/**
 * Hashes personal values for claims: the same value gives the same hash, and without the key it is impossible to try out
 * phone numbers. Lower-case hexadecimal, 64 digits.
 */
export class KeyedHash {
  constructor(private readonly key: Buffer) {}

  /** `parts` in order; different cuts of the same text hash differently. */
  of(...parts: readonly string[]): string {
    const hmac = createHmac('sha256', this.key);
    for (const part of parts) hmac.update(`${Buffer.byteLength(part)}:`).update(part);
    return hmac.digest('hex');
  }
}
