import { LRUCache } from 'lru-cache';
import { upTo } from '../../../platform/cache-size.js';
import { MinuteCounts } from '../../../platform/http/address.js';

/** The most signers in memory; the least recently used are evicted. */
const MAX_SIGNERS = 50_000;

/** A failure costs a point, and one more for each of these bytes that were read and would be sent back fourfold. */
const BYTES_PER_POINT = 16_384;
/** Points per minute: 300 failures without a body, or four with a megabyte. */
const MAX_PER_ADDRESS = 300;
const MAX_PER_KEY = 3000;

/** Who a request says it is from: an address and a merchant. */
export interface SignatureSource {
  readonly client: string;
  readonly merchantId: string;
}

/**
 * Counts wrong signatures per address and per key, in this process alone. Above either bound a wrong signature gets 429
 * instead of the bytes that were signed; above that of its address a request with a large body is refused unread. A caller
 * who has signed correctly from that address is not refused, and others can prove themselves with a small request: api keys
 * are public, so a stranger's failures lock no merchant out.
 */
export class FailedSignatures {
  private readonly addresses: MinuteCounts;
  private readonly keys: MinuteCounts;
  private readonly signers = new LRUCache<string, true>(upTo(MAX_SIGNERS));

  constructor(now: () => number = Date.now) {
    this.addresses = new MinuteCounts(now);
    this.keys = new MinuteCounts(now);
  }

  /** Null when a large body may be read, else the epoch milliseconds at which the next may. */
  blockedUntil(source: SignatureSource): number | null {
    const count = this.addresses.of(source.client);
    if (count === null || count.points <= MAX_PER_ADDRESS) return null;
    return this.signers.has(nameOf(source)) ? null : count.resetsAt;
  }

  succeeded(source: SignatureSource): void {
    this.signers.set(nameOf(source), true);
  }

  /** Counts a failure. Null when it may be explained, else when the next may. */
  failed({ client, merchantId }: SignatureSource, bodyBytes: number): number | null {
    const points = 1 + Math.floor(bodyBytes / BYTES_PER_POINT);
    const address = this.addresses.add(client, points);
    const key = this.keys.add(merchantId, points);
    if (address.points > MAX_PER_ADDRESS) return address.resetsAt;
    return key.points > MAX_PER_KEY ? key.resetsAt : null;
  }
}

function nameOf({ client, merchantId }: SignatureSource): string {
  return `${client} ${merchantId}`;
}
