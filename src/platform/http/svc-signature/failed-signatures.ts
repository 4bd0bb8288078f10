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

/** Large bodies read at once for one key from an address that has not signed rightly for it yet. */
const UNPROVEN_AT_ONCE = 2;

/** Who a request says it is from: an address and a merchant. */
export interface Claim {
  readonly client: string;
  readonly merchantId: string;
}

/**
 * Counts wrong signatures per address and per key, in this process alone. Above either bound a wrong signature is refused
 * with 429 instead of the bytes that were signed; above that of its address a request with a large body is refused before
 * that is read. Whoever has signed rightly from that address stays, and whoever has not shows it with a small
 * request: api keys are public, and nobody is locked out by a stranger who fails in his name, neither from elsewhere nor
 * from behind the same address.
 *
 * A failure is known only when the body is read: so that hundreds that come at once do not all pass, large ones take
 * turns until one of them was signed rightly.
 */
export class FailedSignatures {
  private readonly addresses = new LRUCache<string, Count>({ max: MOST_KEPT });
  private readonly keys = new LRUCache<string, Count>({ max: MOST_KEPT });
  private readonly signers = new LRUCache<string, true>({ max: MOST_KEPT });
  private readonly turns = new Turns(UNPROVEN_AT_ONCE);

  constructor(private readonly now: () => number = Date.now) {}

  /** Null when a large body may be read, else the epoch milliseconds at which the next may. */
  blockedUntil(claim: Claim): number | null {
    const count = this.addresses.get(claim.client);
    if (count === undefined || count.resetsAt <= this.now() || count.points <= MOST_PER_ADDRESS) return null;
    return this.isProven(claim) ? null : count.resetsAt;
  }

  isProven(claim: Claim): boolean {
    return this.signers.has(nameOf(claim));
  }

  /** Resolves when a large body may be read; to be followed by {@link turnEnded} when the response is over. */
  turn(claim: Claim): Promise<void> {
    return this.turns.take(nameOf(claim));
  }

  turnEnded(claim: Claim): void {
    this.turns.end(nameOf(claim));
  }

  succeeded(claim: Claim): void {
    const name = nameOf(claim);
    if (this.signers.get(name) !== undefined) return;
    this.signers.set(name, true);
    this.turns.open(name);
  }

  /** Counts a failure. Null when it may be explained, else when the next may. */
  failed({ client, merchantId }: Claim, bodyBytes: number): number | null {
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

function nameOf({ client, merchantId }: Claim): string {
  return `${client} ${merchantId}`;
}

interface Line {
  taken: number;
  readonly waiting: (() => void)[];
}

/** Lets a few of each name go on at a time; the others wait in their order. */
class Turns {
  private readonly lines = new Map<string, Line>();

  constructor(private readonly atOnce: number) {}

  /** Resolves when it is the caller's turn. Each turn is to be ended once. */
  take(name: string): Promise<void> {
    let line = this.lines.get(name);
    if (line === undefined) {
      line = { taken: 0, waiting: [] };
      this.lines.set(name, line);
    }
    const { waiting } = line;
    const turn = new Promise<void>((resolve) => waiting.push(resolve));
    this.serve(line, this.atOnce);
    return turn;
  }

  end(name: string): void {
    const line = this.lines.get(name);
    if (line === undefined) return;
    line.taken -= 1;
    this.serve(line, this.atOnce);
    if (line.taken === 0) this.lines.delete(name);
  }

  /** All who wait go on: there is no reason left to hold them up. */
  open(name: string): void {
    const line = this.lines.get(name);
    if (line !== undefined) this.serve(line, Infinity);
  }

  private serve(line: Line, atOnce: number): void {
    while (line.taken < atOnce && line.waiting.length > 0) {
      line.taken += 1;
      line.waiting.shift()!();
    }
  }
}
