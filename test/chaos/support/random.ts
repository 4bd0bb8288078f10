/** A seeded generator (mulberry32). A seed and a number determine a request on every machine. */
export class Random {
  private state: number;

  constructor(seed: number, index: number) {
    this.state = Math.imul(seed, 0x9e3779b1) ^ Math.imul(index, 0x85ebca6b);
    // Skips the first numbers, which are similar for neighbouring states.
    for (let skipped = 0; skipped < 3; skipped += 1) this.fraction();
  }

  /** A number in [0, 1). */
  fraction(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** An integer in [0, count). */
  below(count: number): number {
    return Math.floor(this.fraction() * count);
  }

  chance(share: number): boolean {
    return this.fraction() < share;
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!;
  }

  /** Returns `count` choices in equal shares, beginning with a random one. */
  deal<T>(choices: readonly T[], count: number): T[] {
    const first = this.below(choices.length);
    return Array.from({ length: count }, (_, place) => choices[(first + place) % choices.length]!);
  }

  bytes(count: number): Buffer {
    return Buffer.from(Array.from({ length: count }, () => this.below(256)));
  }

  /** Returns a UUID of version 4. */
  uuid(): string {
    const hex = this.bytes(16).toString('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
  }
}
