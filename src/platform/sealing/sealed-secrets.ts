import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Sealer } from './sealer.js';

const RANDOM_BYTES = 32;
/** Opened secrets kept at hand; two for each key of a directory's cache. */
const MAX_OPENED = 20_000;

/** Random secrets that are kept sealed: makes them, and opens them without doing so on every request. */
export class SealedSecrets {
  private readonly opened = new LRUCache<string, string>({ max: MAX_OPENED });

  constructor(
    private readonly sealer: Sealer,
    private readonly prefix: string,
  ) {}

  /** `secret` is the prefix and 64 hexadecimal digits; `sealed` opens with the same `place` alone. */
  generate(place: string): { readonly secret: string; readonly sealed: string } {
    const secret = this.prefix + randomBytes(RANDOM_BYTES).toString('hex');
    return { secret, sealed: this.sealer.seal(secret, place) };
  }

  /** Throws SealError when the text was sealed for another place. */
  open(place: string, sealed: string): string {
    const known = this.opened.get(place);
    if (known !== undefined) return known;
    const secret = this.sealer.open(sealed, place);
    this.opened.set(place, secret);
    return secret;
  }
}
