import { LRUCache } from 'lru-cache';

/** The most addresses, keys and signers in memory; the least recently used are evicted. */
const MAX_TRACKED = 50_000;
const WINDOW_MS = 60_000;

/** A failure costs a point, and one more for each of these bytes that were read and would be sent back fourfold. */
const BYTES_PER_POINT = 16_384;
/** Points per minute: 300 failures without a body, or four with a megabyte. */
const MAX_PER_ADDRESS = 300;
const MAX_PER_KEY = 3000;

interface Count {
  points: number;
  resetsAt: number;
}

/** Large bodies read at once for one key from an address that has not signed correctly for it yet. */
const UNPROVEN_AT_ONCE = 2;

/** Who a request says it is from: an address and a merchant. */
export interface Claim {
  readonly client: string;
  readonly merchantId: string;
}

/**
 * Counts wrong signatures per address and per key, in this process alone. Above either bound a wrong signature gets 429
 * instead of the bytes that were signed; above that of its address a request with a large body is refused unread. A caller
 * who has signed correctly from that address is not refused, and others can prove themselves with a small request: api keys
 * are public, so a stranger's failures lock no merchant out.
 *
 * A failure is known only after the body is read: until one was signed correctly, few large ones are read at once.
 */
export class FailedSignatures {
  private readonly addresses = new LRUCache<string, Count>({ max: MAX_TRACKED });
  private readonly keys = new LRUCache<string, Count>({ max: MAX_TRACKED });
  private readonly signers = new LRUCache<string, true>({ max: MAX_TRACKED });
  private readonly reads = new Slots(UNPROVEN_AT_ONCE);

  constructor(private readonly now: () => number = Date.now) {}

  /** Null when a large body may be read, else the epoch milliseconds at which the next may. */
  blockedUntil(claim: Claim): number | null {
    const count = this.addresses.get(claim.client);
    if (count === undefined || count.resetsAt <= this.now() || count.points <= MAX_PER_ADDRESS) return null;
    return this.isProven(claim) ? null : count.resetsAt;
  }

  isProven(claim: Claim): boolean {
    return this.signers.has(nameOf(claim));
  }

  /** Resolves when a large body may be read; call {@link releaseRead} after the response. */
  acquireRead(claim: Claim): Promise<void> {
    return this.reads.acquire(nameOf(claim));
  }

  releaseRead(claim: Claim): void {
    this.reads.release(nameOf(claim));
  }

  succeeded(claim: Claim): void {
    const name = nameOf(claim);
    if (this.signers.get(name) !== undefined) return;
    this.signers.set(name, true);
    this.reads.admitAll(name);
  }

  /** Counts a failure. Null when it may be explained, else when the next may. */
  failed({ client, merchantId }: Claim, bodyBytes: number): number | null {
    const points = 1 + Math.floor(bodyBytes / BYTES_PER_POINT);
    const address = this.add(this.addresses, client, points);
    const key = this.add(this.keys, merchantId, points);
    if (address.points > MAX_PER_ADDRESS) return address.resetsAt;
    return key.points > MAX_PER_KEY ? key.resetsAt : null;
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

function nameOf({ client, merchantId }: Claim): string {
  return `${client} ${merchantId}`;
}

interface Line {
  used: number;
  readonly waiting: (() => void)[];
}

/** A few slots per name; the others wait in order. */
class Slots {
  private readonly lines = new Map<string, Line>();

  constructor(private readonly atOnce: number) {}

  acquire(name: string): Promise<void> {
    let line = this.lines.get(name);
    if (line === undefined) {
      line = { used: 0, waiting: [] };
      this.lines.set(name, line);
    }
    const { waiting } = line;
    const acquired = new Promise<void>((resolve) => waiting.push(resolve));
    this.serve(line, this.atOnce);
    return acquired;
  }

  release(name: string): void {
    const line = this.lines.get(name);
    if (line === undefined) return;
    line.used -= 1;
    this.serve(line, this.atOnce);
    if (line.used === 0) this.lines.delete(name);
  }

  admitAll(name: string): void {
    const line = this.lines.get(name);
    if (line !== undefined) this.serve(line, Infinity);
  }

  private serve(line: Line, atOnce: number): void {
    while (line.used < atOnce && line.waiting.length > 0) {
      line.used += 1;
      line.waiting.shift()!();
    }
  }
}
