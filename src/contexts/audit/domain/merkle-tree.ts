import { sha256 } from '../../../kernel/sha256.js';

const NODE = Buffer.from([1]);

/** Bytes of a hash. */
export const HASH_BYTES = 32;

/** SHA-256 over 0x01 and both hashes: the inner node of RFC 9162. */
export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  return sha256(Buffer.concat([NODE, left, right]));
}

/** The root over adjacent subtrees, the largest first. */
export function joinedRoot(peaks: readonly Buffer[]): Buffer {
  if (peaks.length === 0) return sha256('');
  return peaks.reduceRight((right, left) => nodeHash(left, right));
}

/**
 * The Merkle tree of RFC 9162 (SHA-256) that only grows. It keeps the roots of its complete subtrees, one for each bit
 * of its size, and none of its leaves.
 */
export class MerkleTree {
  private readonly peaks: Buffer[];

  /** Continues a tree of `size` leaves with these {@link peakBytes}. */
  constructor(
    private leaves = 0,
    peaks: Buffer = Buffer.alloc(0),
  ) {
    if (peaks.length !== HASH_BYTES * onesOf(leaves))
      throw new RangeError('these are not the peaks of a tree of that size');
    this.peaks = hashesOf(peaks);
  }

  get size(): number {
    return this.leaves;
  }

  /** Roots of the complete subtrees, the largest first. */
  get peakBytes(): Buffer {
    return Buffer.concat(this.peaks);
  }

  get root(): Buffer {
    return joinedRoot(this.peaks);
  }

  /**
   * Adds a leaf by its hash. Gives the root of every subtree that this leaf completes, the smallest first: the leaf
   * itself, the pair that it closes, and so on.
   */
  append(leaf: Buffer): readonly Buffer[] {
    const completed = [leaf];
    let hash = leaf;
    for (let rest = this.leaves; rest % 2 === 1; rest = (rest - 1) / 2) {
      hash = nodeHash(this.peaks.pop()!, hash);
      completed.push(hash);
    }
    this.peaks.push(hash);
    this.leaves += 1;
    return completed;
  }
}

/** Splits concatenated hashes. */
function hashesOf(bytes: Buffer): Buffer[] {
  return Array.from({ length: bytes.length / HASH_BYTES }, (_, place) =>
    bytes.subarray(place * HASH_BYTES, (place + 1) * HASH_BYTES),
  );
}

function onesOf(size: number): number {
  let ones = 0;
  for (let rest = size; rest > 0; rest = Math.floor(rest / 2)) ones += rest % 2;
  return ones;
}
