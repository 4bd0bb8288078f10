import { describe, expect, it } from '@jest/globals';
import { MerkleTree } from '../domain/merkle-tree.js';
import type { SignedHead } from '../domain/signed-head.js';
import { HeadRoots } from './head-roots.js';

const leaf = (n: number): Buffer => Buffer.alloc(32, n);

function headOver(leaves: readonly Buffer[]): SignedHead {
  const tree = new MerkleTree();
  for (const each of leaves) tree.append(each);
  const [size, root] = [tree.size, tree.root.toString('hex')];
  const signed = {
    log_id: 'l',
    position: String(size),
    signed_at: `at ${size}`,
    key_id: 'k',
    previous: null,
    signature: 's',
  };
  return { ...signed, size, root };
}

async function compared(leaves: readonly Buffer[], heads: readonly SignedHead[]): Promise<HeadRoots> {
  const read = async (size: number): Promise<readonly SignedHead[]> =>
    heads.filter((head) => head.size > size);
  const roots = new HeadRoots(read, () => true);
  const tree = new MerkleTree();
  for (const each of leaves) {
    tree.append(each);
    if (roots.isDue(tree.size)) await roots.compare(tree);
  }
  await roots.finish(tree);
  return roots;
}

describe('heads over a log', () => {
  const recorded = [1, 2, 3, 4].map(leaf);
  const rewritten = [1, 2, 9, 4, 5].map(leaf);

  it('that agree with it prove as much as the largest of them covers', async () => {
    const { lastGood, firstBad } = await compared(
      recorded,
      [2, 4].map((n) => headOver(recorded.slice(0, n))),
    );
    expect([lastGood?.size, firstBad]).toEqual([4, null]);
  });

  it('that were signed again after a rewriting prove nothing beyond the head that it contradicts', async () => {
    const kept = headOver(recorded.slice(0, 3));
    const signedAgain = headOver(rewritten);
    const { lastGood, firstBad } = await compared(rewritten, [kept, signedAgain]);
    expect([lastGood, firstBad]).toEqual([null, kept]);
    const before = headOver(recorded.slice(0, 2));
    expect((await compared(rewritten, [before, kept, signedAgain])).lastGood).toEqual(before);
  });

  it('of more events than there are tell that it was cut', async () => {
    const { beyond } = await compared(recorded.slice(0, 2), [headOver(recorded)]);
    expect(beyond?.size).toBe(4);
  });
});
