/** Hashes remembered at most; beyond it all are forgotten and asked for again. */
const MOST = 200_000;

/**
 * Transactions that were in no block while the chain stood at one head. As long as it stands there they need not be
 * asked for again; another head, a reorganised one of the same height too, forgets them all.
 */
export class Absences {
  private head: string | null = null;
  private readonly hashes = new Set<string>();

  /** `head` is the hash of the newest block; null when the node does not tell it. */
  standAt(head: string | null): void {
    if (head !== null && head === this.head) return;
    this.head = head;
    this.hashes.clear();
  }

  has(hash: string): boolean {
    return this.hashes.has(hash);
  }

  add(hash: string): void {
    if (this.head === null) return;
    if (this.hashes.size >= MOST) this.hashes.clear();
    this.hashes.add(hash);
  }
}
