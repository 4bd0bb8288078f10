import { subtreesOf, type Range, type Subtree } from '../../../src/contexts/audit/domain/merkle-proof.js';
import { joinedRoot, nodeHash } from '../../../src/contexts/audit/domain/merkle-tree.js';

export type ReadSubtree = (subtree: Subtree) => Buffer;

export function rootOfRange(range: Range, read: ReadSubtree): Buffer {
  return joinedRoot(subtreesOf(range).map(read));
}

/** Whether `path` leads from the leaf with `hash` to `root` (RFC 9162, 2.1.3.2). */
export function provesInclusion(
  leaf: { readonly index: number; readonly hash: Buffer },
  size: number,
  path: readonly Buffer[],
  root: Buffer,
): boolean {
  if (!(leaf.index >= 0 && leaf.index < size)) return false;
  let first = leaf.index;
  let last = size - 1;
  let hash = leaf.hash;
  for (const sibling of path) {
    if (last === 0) return false;
    if (first % 2 === 1 || first === last) {
      hash = nodeHash(sibling, hash);
      for (; first % 2 === 0; first /= 2) last = Math.floor(last / 2);
    } else {
      hash = nodeHash(hash, sibling);
    }
    first = Math.floor(first / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 && hash.equals(root);
}
