import { LRUCache } from 'lru-cache';
import type { Sealer } from './sealer.js';

/** Opened secrets that are remembered: two for each key of a directory's cache. */
const MAX_OPENED = 20_000;

/** Secrets that are kept sealed, each for its own place, and opened without a decryption on every request. */
export class SealedSecrets {
  private readonly opened = new LRUCache<string, string>({ max: MAX_OPENED });

  constructor(private readonly sealer: Sealer) {}

  /** The text opens with the same `place` alone. */
  seal(place: string, secret: string): string {
    return this.sealer.seal(secret, place);
  }

  /** Throws SealError when the text was sealed for another place, also where it was opened at its own before. */
  open(place: string, sealed: string): string {
    const name = `${place} ${sealed}`;
    const known = this.opened.get(name);
    if (known !== undefined) return known;
    const secret = this.sealer.open(sealed, place);
    this.opened.set(name, secret);
    return secret;
  }
}
