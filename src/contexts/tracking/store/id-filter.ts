/** Bits for each key: about one id in a thousand is taken for known that is not. */
const BITS_PER_KEY = 16;
/** All bits of a key stand in one block of 512 bits, which is one cache line. */
const WORDS_PER_BLOCK = 16;
const BITS_PER_BLOCK = 512;
const BITS_SET = 8;
const UINT32 = 2 ** 32;

/** Two hashes of an event's id with its merchant, 32 bits each. */
export interface IdHash {
  readonly first: number;
  readonly second: number;
}

/**
 * A set of bits over the ids of many events (a blocked Bloom filter): says "maybe" of all that were added, and "no" of
 * nearly all others.
 */
export class IdFilter {
  private readonly blocks: number;

  private constructor(private readonly words: Uint32Array) {
    this.blocks = words.length / WORDS_PER_BLOCK;
  }

  static for(keys: number): IdFilter {
    const blocks = Math.ceil((keys * BITS_PER_KEY) / BITS_PER_BLOCK);
    return new IdFilter(new Uint32Array(blocks * WORDS_PER_BLOCK));
  }

  /** Of the bytes of {@link parts}, in their order. */
  static of(parts: readonly Uint8Array[]): IdFilter {
    const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of parts) {
      bytes.set(part, at);
      at += part.length;
    }
    return new IdFilter(new Uint32Array(bytes.buffer));
  }

  /** The memory a filter over so many keys takes. */
  static bytesFor(keys: number): number {
    return Math.ceil((keys * BITS_PER_KEY) / BITS_PER_BLOCK) * (BITS_PER_BLOCK / 8);
  }

  /** Its bytes, cut into parts of at most `most` bytes; little-endian words, as every platform of Node.js has them. */
  *parts(most: number): Iterable<Buffer> {
    const { buffer, byteLength } = this.words;
    for (let at = 0; at < byteLength; at += most)
      yield Buffer.from(buffer as ArrayBuffer, at, Math.min(most, byteLength - at));
  }

  add(hash: IdHash): void {
    for (let i = 0; i < BITS_SET; i += 1) {
      const place = this.place(hash, i);
      this.words[place >>> 5]! |= 1 << (place & 31);
    }
  }

  mayHold(hash: IdHash): boolean {
    if (this.blocks === 0) return false;
    for (let i = 0; i < BITS_SET; i += 1) {
      const place = this.place(hash, i);
      if ((this.words[place >>> 5]! & (1 << (place & 31))) === 0) return false;
    }
    return true;
  }

  /** Which bit of all is the `i`th of the key. */
  private place({ first, second }: IdHash, i: number): number {
    const bit = (second >>> 16) + Math.imul(i, second | 1);
    return Math.floor((first / UINT32) * this.blocks) * BITS_PER_BLOCK + ((bit >>> 0) % BITS_PER_BLOCK);
  }
}

/** The hashes of an event_id, in lower case, of the merchant with the seed. */
export function hashId(eventId: string, seed: number): IdHash {
  const first = hashed(seed, eventId);
  return { first: first >>> 0, second: mixed(first ^ 0x9e3779b9) >>> 0 };
}

/** What makes the same id of two merchants two keys. */
export function merchantSeed(merchantId: string): number {
  return hashed(0, merchantId);
}

function hashed(seed: number, uuid: string): number {
  const hex = uuid.replaceAll('-', '');
  let hash = seed;
  for (let at = 0; at < hex.length; at += 8) hash = mixed(hash ^ parseInt(hex.slice(at, at + 8), 16));
  return hash;
}

/** The last step of MurmurHash3: each bit of the input moves half of those of the output. */
function mixed(value: number): number {
  let hash = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
