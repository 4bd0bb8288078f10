import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { pathOf } from '../../../../test/support/audit/merkle.js';
import {
  consistencyRanges,
  inclusionRanges,
  lastLeafOf,
  provesConsistency,
  provesInclusion,
  toSubtrees,
  MerkleTree,
} from './merkle-tree.js';

const sha256 = (...parts: readonly Uint8Array[]): Buffer =>
  createHash('sha256').update(Buffer.concat(parts)).digest();
const leafOf = (bytes: Uint8Array): Buffer => sha256(Buffer.from([0]), bytes);

/** MTH by the definition of RFC 9162, 2.1.1. */
function mth(leaves: readonly Buffer[]): Buffer {
  if (leaves.length === 0) return sha256();
  if (leaves.length === 1) return leaves[0]!;
  const k = 2 ** (Math.ceil(Math.log2(leaves.length)) - 1);
  return sha256(Buffer.from([1]), mth(leaves.slice(0, k)), mth(leaves.slice(k)));
}

/** The roots of the subtrees that each leaf completes. */
function rowsOf(hashes: readonly Buffer[]): readonly (readonly Buffer[])[] {
  const tree = new MerkleTree();
  return hashes.map((hash) => tree.append(hash));
}

const hashesOf = (size: number): Buffer[] =>
  Array.from({ length: size }, (_, place) => leafOf(Buffer.from(`leaf ${place}`)));

/** The inputs and roots of the test suite of Certificate Transparency (merkle_tree_test.cc). */
const INPUTS = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
];
const ROOTS = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];

describe('a Merkle tree', () => {
  it('has the roots of the test vectors of Certificate Transparency', () => {
    const tree = new MerkleTree();
    expect(tree.root.toString('hex')).toBe(
      'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    );
    INPUTS.forEach((input, place) => {
      tree.append(leafOf(Buffer.from(input, 'hex')));
      expect(tree.root.toString('hex')).toBe(ROOTS[place]);
    });
  });

  it('has the root that RFC 9162 defines at every size, also when it continues from stored peaks', () => {
    const hashes = hashesOf(200);
    let tree = new MerkleTree();
    hashes.forEach((hash, place) => {
      tree.append(hash);
      expect(tree.root).toEqual(mth(hashes.slice(0, place + 1)));
      if (place % 7 === 0) tree = new MerkleTree(tree.size, tree.peakBytes);
    });
    expect(tree.size).toBe(200);
    expect(() => new MerkleTree(3, Buffer.alloc(32))).toThrow(RangeError);
  });

  it('proves the inclusion of every leaf at every size', () => {
    const hashes = hashesOf(40);
    const rows = rowsOf(hashes);
    for (let size = 1; size <= hashes.length; size += 1) {
      const root = mth(hashes.slice(0, size));
      for (let index = 0; index < size; index += 1) {
        const path = pathOf(inclusionRanges(index, size), rows);
        const leaf = { index, hash: hashes[index]! };
        expect(provesInclusion(leaf, { size, root }, path)).toBe(true);
        expect(provesInclusion(leaf, { size, root }, [...path, root])).toBe(false);
        expect(provesInclusion(leaf, { size, root }, path.slice(1))).toBe(path.length === 0);
        expect(provesInclusion({ ...leaf, hash: root }, { size, root }, path)).toBe(size === 1);
        expect(provesInclusion({ ...leaf, index: (index + 1) % size }, { size, root }, path)).toBe(
          size === 1,
        );
      }
    }
  });

  it('proves at every size that it extends every smaller tree', () => {
    const hashes = hashesOf(40);
    const rows = rowsOf(hashes);
    for (let size = 1; size <= hashes.length; size += 1) {
      for (let former = 1; former <= size; former += 1) {
        const path = pathOf(consistencyRanges(former, size), rows);
        const before = { size: former, root: mth(hashes.slice(0, former)) };
        const after = { size, root: mth(hashes.slice(0, size)) };
        expect(provesConsistency(before, after, path)).toBe(true);
      }
    }
  });

  it('refuses a proof of consistency if one byte of a hash or a root is wrong', () => {
    const hashes = hashesOf(64);
    const rows = rowsOf(hashes);
    const sizes = fc.integer({ min: 2, max: 64 });
    const cases = fc.tuple(
      sizes,
      fc.nat(),
      fc.nat(),
      fc.nat(255).filter((bits) => bits > 0),
      fc.nat(),
    );
    fc.assert(
      fc.property(cases, ([size, seed, place, bits, byte]) => {
        const root = mth(hashes.slice(0, size));
        const flipped = (hash: Buffer): Buffer => {
          const copy = Buffer.from(hash);
          copy[byte % 32]! ^= bits;
          return copy;
        };
        const former = 1 + (seed % (size - 1));
        const before = { size: former, root: mth(hashes.slice(0, former)) };
        const proof = pathOf(consistencyRanges(former, size), rows);
        const wrong = proof.map((hash, at) => (at === place % proof.length ? flipped(hash) : hash));
        expect(provesConsistency(before, { size, root }, wrong)).toBe(false);
        expect(provesConsistency({ ...before, root: flipped(before.root) }, { size, root }, proof)).toBe(
          false,
        );
        expect(provesConsistency(before, { size, root: flipped(root) }, proof)).toBe(false);
      }),
    );
  });

  it('refuses a proof for a leaf or tree that cannot exist', () => {
    const [leaf, root] = [leafOf(Buffer.from('a')), mth(hashesOf(3))];
    for (const index of [-1, 3]) {
      expect(() => inclusionRanges(index, 3)).toThrow('a tree of 3 leaves has no leaf');
    }
    for (const former of [0, 4]) {
      expect(() => consistencyRanges(former, 3)).toThrow('leaves are no earlier state of a tree of 3');
      expect(provesConsistency({ size: former, root }, { size: 3, root }, [])).toBe(false);
    }
    expect(provesConsistency({ size: 3, root }, { size: 3, root }, [])).toBe(true);
    expect(provesConsistency({ size: 3, root }, { size: 3, root }, [leaf])).toBe(false);
    expect(provesConsistency({ size: 3, root }, { size: 3, root: leaf }, [])).toBe(false);
    expect(provesConsistency({ size: 3, root }, { size: 4, root }, [])).toBe(false);
    expect(provesConsistency({ size: 2, root }, { size: 3, root }, [])).toBe(false);
    const two = hashesOf(2);
    // A path of separate leaves leads to the root, and to any former root.
    expect(provesConsistency({ size: 0, root: two[0]! }, { size: 2, root: mth(two) }, two)).toBe(false);
    expect(consistencyRanges(3, 3)).toEqual([]);
  });

  it('builds a proof of a large tree from a few subtrees, also beyond 2^32 leaves', () => {
    for (const size of [1_000_000, 2 ** 40 + 12_345]) {
      for (const index of [0, 1, Math.floor(size / 3), size - 1]) {
        const ranges = inclusionRanges(index, size);
        expect(ranges.length).toBeLessThanOrEqual(Math.ceil(Math.log2(size)));
        const subtrees = ranges.flatMap(toSubtrees);
        expect(subtrees.length).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(size)));
        expect(subtrees.every((subtree) => lastLeafOf(subtree) < size)).toBe(true);
      }
    }
  });
});
