import { createHmac } from 'node:crypto';

/** The keyed hash of personal values in claims, which prevents guesses of phone numbers. */
export class KeyedHash {
  constructor(private readonly key: Buffer) {}

  /** Hashes the parts to 64 hexadecimal digits. The same text, split into other parts, has another hash. */
  of(...parts: readonly string[]): string {
    const hmac = createHmac('sha256', this.key);
    for (const part of parts) hmac.update(`${Buffer.byteLength(part)}:`).update(part);
    return hmac.digest('hex');
  }
}
