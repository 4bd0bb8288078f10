const EMPTY = 0;
const FIRST_SLOTS = 1 << 10;

/**
 * Numbers names from 0, in the order of their addition. It stores 64 bits of each name, some 15 MB per
 * million. Two names with equal bits count as one, which an audit reports.
 */
export class NameTable {
  size = 0;
  private slots = new Uint32Array(FIRST_SLOTS);
  private hashes = new Uint32Array(FIRST_SLOTS);

  /** Returns the number of a name, or -1. */
  find(name: string): number {
    return this.slots[this.slotOf(name)]! - 1;
  }

  has(name: string): boolean {
    return this.find(name) >= 0;
  }

  add(name: string): number {
    const slot = this.slotOf(name);
    const known = this.slots[slot]! - 1;
    if (known >= 0) return known;
    const number = this.size;
    if (2 * number >= this.hashes.length) this.hashes = grown(this.hashes);
    this.hashes[2 * number] = low;
    this.hashes[2 * number + 1] = high;
    this.slots[slot] = number + 1;
    this.size += 1;
    if (4 * this.size > 3 * this.slots.length) this.widen();
    return number;
  }

  /** Finds the slot of the name, or a free slot. Stores the hash of the name in `low` and `high`. */
  private slotOf(name: string): number {
    hash(name);
    const mask = this.slots.length - 1;
    for (let slot = low & mask; ; slot = (slot + 1) & mask) {
      const number = this.slots[slot]!;
      if (number === EMPTY) return slot;
      if (this.hashes[2 * number - 2] === low && this.hashes[2 * number - 1] === high) return slot;
    }
  }

  private widen(): void {
    const slots = new Uint32Array(2 * this.slots.length);
    const mask = slots.length - 1;
    for (let number = 1; number <= this.size; number += 1) {
      let slot = this.hashes[2 * number - 2]! & mask;
      while (slots[slot] !== EMPTY) slot = (slot + 1) & mask;
      slots[slot] = number;
    }
    this.slots = slots;
  }
}

let low = 0;
let high = 0;

/** Hashes a text to 64 bits (cyrb53 with its whole state), without protection against forgery. */
function hash(text: string): void {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let place = 0; place < text.length; place += 1) {
    const unit = text.charCodeAt(place);
    a = Math.imul(a ^ unit, 2654435761);
    b = Math.imul(b ^ unit, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  low = a >>> 0;
  high = b >>> 0;
}

export function grown<T extends Uint32Array | Int32Array | Uint8Array>(array: T): T {
  const longer = new (array.constructor as new (length: number) => T)(2 * array.length);
  longer.set(array);
  return longer;
}
