import {
  toSubtrees,
  type Range,
  type Subtree,
  joinedRoot,
} from '../../../src/contexts/audit/ledger/merkle-tree.js';

export type ReadSubtree = (subtree: Subtree) => Buffer;

export const rootOfRange = (range: Range, read: ReadSubtree): Buffer =>
  joinedRoot(toSubtrees(range).map(read));
