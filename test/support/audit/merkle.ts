import {
  toSubtrees,
  type Range,
  type Subtree,
  joinedRoot,
} from '../../../src/contexts/audit/domain/merkle-tree.js';

export type ReadSubtree = (subtree: Subtree) => Buffer;

export function rootOfRange(range: Range, read: ReadSubtree): Buffer {
  return joinedRoot(toSubtrees(range).map(read));
}
