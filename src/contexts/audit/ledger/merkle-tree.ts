import { sha256 } from '../../../kernel/sha256.js';

const NODE = Buffer.from([1]);

export const HASH_BYTES = 32;

/** The hash of an inner node in RFC 9162: SHA-256 over 0x01 and both hashes. */
function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  return sha256(Buffer.concat([NODE, left, right]));
}

/** The root over adjacent subtrees, the largest first. */
export function joinedRoot(peaks: readonly Buffer[]): Buffer {
  if (peaks.length === 0) return sha256('');
  return peaks.reduceRight((right, left) => nodeHash(left, right));
}

/** A growing Merkle tree of RFC 9162 (SHA-256). Its peaks are the roots of its complete subtrees. */
export class MerkleTree {
  private readonly peaks: Buffer[];

  constructor(
    private leaves = 0,
    peaks: Buffer = Buffer.alloc(0),
  ) {
    const ones = leaves.toString(2).replaceAll('0', '').length;
    if (peaks.length !== HASH_BYTES * ones)
      throw new RangeError(`the peaks do not match a tree of ${leaves} leaves`);
    this.peaks = Array.from({ length: peaks.length / HASH_BYTES }, (_, place) =>
      peaks.subarray(place * HASH_BYTES, (place + 1) * HASH_BYTES),
    );
  }

  get size(): number {
    return this.leaves;
  }

  /** The peaks in one buffer, the largest first: one peak for each 1 bit of the size. */
  get peakBytes(): Buffer {
    return Buffer.concat(this.peaks);
  }

  get root(): Buffer {
    return joinedRoot(this.peaks);
  }

  /** Adds a leaf hash. Returns the roots of the subtrees that it completes, from the leaf itself up. */
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

/** The leaves from `from` (inclusive) to `to` (exclusive). */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** The complete subtree of 2^level leaves that starts at the leaf `index` * 2^level. */
interface Subtree {
  readonly level: number;
  readonly index: number;
}

export function lastLeafOf({ level, index }: Subtree): number {
  return (index + 1) * 2 ** level - 1;
}

/** The ranges of an inclusion proof, whose roots lead from the leaf to the top (RFC 9162, 2.1.3.1). */
export function inclusionRanges(leaf: number, size: number): readonly Range[] {
  if (!(leaf >= 0 && leaf < size)) throw new RangeError(`a tree of ${size} leaves has no leaf ${leaf}`);
  return rangesAround(leaf, size, ({ from, to }) => to - from === 1).around;
}

/** The ranges of leaves whose roots are the consistency proof from `former` to `size` (RFC 9162, 2.1.4.1). */
export function consistencyRanges(former: number, size: number): readonly Range[] {
  if (!(former > 0 && former <= size))
    throw new RangeError(`${former} leaves are no earlier state of a tree of ${size}`);
  const { last, around } = rangesAround(former - 1, size, ({ to }) => to === former);
  // The verifier already has the root of a range from 0, which is the former tree.
  return last.from > 0 ? [last, ...around] : around;
}

/** Splits the tree until `isLast` accepts a range. `around` has the sibling of each step, the last first. */
function rangesAround(
  leaf: number,
  size: number,
  isLast: (range: Range) => boolean,
): { readonly last: Range; readonly around: readonly Range[] } {
  const around: Range[] = [];
  let last: Range = { from: 0, to: size };
  while (!isLast(last)) {
    const middle = last.from + findSplit(last.to - last.from);
    const [left, right] = [
      { from: last.from, to: middle },
      { from: middle, to: last.to },
    ];
    around.unshift(leaf < middle ? right : left);
    last = leaf < middle ? left : right;
  }
  return { last, around };
}

/** Splits a range into complete subtrees, largest first. It must start at a multiple of the largest size. */
export function toSubtrees({ from, to }: Range): readonly Subtree[] {
  const subtrees: Subtree[] = [];
  for (let start = from; start < to;) {
    let level = 0;
    while (start + 2 ** (level + 1) <= to) level += 1;
    subtrees.push({ level, index: start / 2 ** level });
    start += 2 ** level;
  }
  return subtrees;
}

/** Checks by `path` that the tree with `root` extends the tree with `former.root` (RFC 9162, 2.1.4.2). */
export function provesConsistency(
  former: { readonly size: number; readonly root: Buffer },
  { size, root }: { readonly size: number; readonly root: Buffer },
  path: readonly Buffer[],
): boolean {
  if (!(former.size > 0 && former.size <= size)) return false;
  if (former.size === size) return path.length === 0 && former.root.equals(root);
  const hashes = Number.isInteger(Math.log2(former.size)) ? [former.root, ...path] : [...path];
  let first = former.size - 1;
  let last = size - 1;
  for (; first % 2 === 1; first = half(first)) last = half(last);
  const start = hashes.shift();
  if (start === undefined) return false;
  let formerRoot = start;
  let newRoot = start;
  for (const hash of hashes) {
    if (last === 0) return false;
    if (first % 2 === 1 || first === last) {
      formerRoot = nodeHash(hash, formerRoot);
      newRoot = nodeHash(hash, newRoot);
      for (; first % 2 === 0; first /= 2) last = half(last);
    } else {
      newRoot = nodeHash(newRoot, hash);
    }
    first = half(first);
    last = half(last);
  }
  return last === 0 && formerRoot.equals(former.root) && newRoot.equals(root);
}

function findSplit(size: number): number {
  let split = 1;
  while (split * 2 < size) split *= 2;
  return split;
}

function half(value: number): number {
  return Math.floor(value / 2);
}

export function provesInclusion(
  { hash, index }: { readonly hash: Buffer; readonly index: number },
  { size, root }: { readonly size: number; readonly root: Buffer },
  path: readonly Buffer[],
): boolean {
  const ranges = inclusionRanges(index, size);
  if (ranges.length !== path.length) return false;
  const top = ranges.reduce(
    (node, { from }, place) => (from > index ? nodeHash(node, path[place]!) : nodeHash(path[place]!, node)),
    hash,
  );
  return top.equals(root);
}
