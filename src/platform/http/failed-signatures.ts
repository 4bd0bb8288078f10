import { LRUCache } from 'lru-cache';

/** The most addresses, keys and signers kept in mind; the ones not seen for longest are forgotten first. */
const MOST_KEPT = 50_000;
const WINDOW_MS = 60_000;

/** A failure costs a point, and one more for each of these bytes that were read and would be sent back fourfold. */
const BYTES_PER_POINT = 16_384;
/** Points per minute: 300 failures without a body, or four with a megabyte. */
const MOST_PER_ADDRESS = 300;
const MOST_PER_KEY = 3000;

interface Count {
  points: number;
  resetsAt: number;
}

/**
 * Counts wrong signatures per address and per key, in this process alone. Above either bound a wrong signature is answered
 * with 429 instead of the bytes that were signed; above that of its address a request is refused before its body is
 * read. Whoever has signed rightly from that address stays: api keys are public, and nobody is locked out by a stranger
 * who fails in his name, neither from elsewhere nor from behind the same address.
 */
export class FailedSignatures {
  private readonly addresses = new LRUCache<string, Count>({ max: MOST_KEPT });
  private readonly keys = new LRUCache<string, Count>({ max: MOST_KEPT });
  private readonly signers = new LRUCache<string, true>({ max: MOST_KEPT });

  constructor(private readonly now: () => number = Date.now) {}

  /** Null when the body may be read, else the epoch milliseconds at which the next may. */
  blockedUntil(client: string, merchantId: string): number | null {
    const count = this.addresses.get(client);
    if (count === undefined || count.resetsAt <= this.now() || count.points <= MOST_PER_ADDRESS) return null;
    return this.signers.has(signer(client, merchantId)) ? null : count.resetsAt;
  }

  succeeded(client: string, merchantId: string): void {
    const name = signer(client, merchantId);
    if (this.signers.get(name) === undefined) this.signers.set(name, true);
  }

  /** Counts a failure. Null when it may be explained, else when the next may. */
  failed(client: string, merchantId: string, bodyBytes: number): number | null {
    const points = 1 + Math.floor(bodyBytes / BYTES_PER_POINT);
    const address = this.add(this.addresses, client, points);
    const key = this.add(this.keys, merchantId, points);
    if (address.points > MOST_PER_ADDRESS) return address.resetsAt;
    return key.points > MOST_PER_KEY ? key.resetsAt : null;
  }

  private add(counts: LRUCache<string, Count>, name: string, points: number): Count {
    let count = counts.get(name);
    if (count === undefined || count.resetsAt <= this.now()) {
      count = { points: 0, resetsAt: this.now() + WINDOW_MS };
      counts.set(name, count);
    }
    count.points += points;
    return count;
  }
}

function signer(client: string, merchantId: string): string {
  return `${client} ${merchantId}`;
}
