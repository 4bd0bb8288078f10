import {
  joinedRoot,
  lastLeafOf,
  type Range,
  toSubtrees,
} from '../../../src/contexts/audit/ledger/merkle-tree.js';

/** Returns the hashes of a proof from the subtrees that each leaf completes. */
export const pathOf = (ranges: readonly Range[], rows: readonly (readonly Buffer[])[]): readonly Buffer[] =>
  ranges.map((range) =>
    joinedRoot(toSubtrees(range).map((subtree) => rows[lastLeafOf(subtree)]![subtree.level]!)),
  );
