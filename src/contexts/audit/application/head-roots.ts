import type { MerkleTree } from '../domain/merkle-tree.js';
import type { SignedHead } from '../domain/signed-head.js';

/** Heads of more than `size` events, in order of their sizes; all of the last size that there are, at most about `limit`. */
export type ReadHeads = (size: number, limit: number) => Promise<readonly SignedHead[]>;

const PAGE = 500;

/** Holds a growing tree against the root of every head that it passes. */
export class HeadRoots {
  /** The last head that agreed before the first that did not, and that is vouched for. */
  lastGood: SignedHead | null = null;
  /** The last one that agreed, and that nobody vouches for. */
  lastUnvouched: SignedHead | null = null;
  firstBad: SignedHead | null = null;
  /** The largest head that the tree did not come to. */
  beyond: SignedHead | null = null;
  count = 0;
  private page: readonly SignedHead[] = [];
  private place = 0;
  private isOver = false;

  constructor(
    private readonly read: ReadHeads,
    /** Heads that are not say nothing of the tree. */
    private readonly isGenuine: (head: SignedHead) => boolean,
    /** Heads that are not prove nothing, and what contradicts them is wrong all the same. */
    private readonly isVouched: (head: SignedHead) => boolean = () => true,
  ) {}

  /** Whether {@link compare} has something to do. */
  isDue(size: number): boolean {
    const next = this.page[this.place];
    return next === undefined ? !this.isOver : next.size <= size;
  }

  async compare(tree: MerkleTree): Promise<void> {
    for (let next = await this.next(); next !== null && next.size <= tree.size; next = await this.next()) {
      if (!this.take(next)) continue;
      if (next.size !== tree.size || next.root !== tree.root.toString('hex')) this.firstBad ??= next;
      else if (this.firstBad !== null) continue;
      else if (this.isVouched(next)) this.lastGood = next;
      else this.lastUnvouched = next;
    }
  }

  /** After the last leaf. */
  async finish(tree: MerkleTree): Promise<void> {
    await this.compare(tree);
    for (let next = await this.next(); next !== null; next = await this.next())
      if (this.take(next)) this.beyond = next;
  }

  private async next(): Promise<SignedHead | null> {
    if (this.place === this.page.length && !this.isOver) {
      this.page = await this.read(this.page.at(-1)?.size ?? 0, PAGE);
      this.place = 0;
      this.isOver = this.page.length === 0;
    }
    return this.page[this.place] ?? null;
  }

  private take(head: SignedHead): boolean {
    this.place += 1;
    this.count += 1;
    return this.isGenuine(head);
  }
}
