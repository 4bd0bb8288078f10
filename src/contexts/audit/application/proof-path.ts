import { subtreesOf, type Range } from '../domain/merkle-proof.js';
import { joinedRoot } from '../domain/merkle-tree.js';
import type { Ledger } from '../store/ledger.js';

/** The hashes that a proof consists of, in hex: the root over each range. */
export async function pathOver(
  ledger: Pick<Ledger, 'subtrees'>,
  ranges: readonly Range[],
): Promise<readonly string[]> {
  const parts = ranges.map(subtreesOf);
  const hashes = await ledger.subtrees(parts.flat());
  let place = 0;
  return parts.map((subtrees) => joinedRoot(hashes.slice(place, (place += subtrees.length))).toString('hex'));
}
