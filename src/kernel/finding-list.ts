/** Counts all findings of a check and lists the first `max`. */
export class FindingList<T> {
  readonly listed: T[] = [];
  count = 0;

  constructor(private readonly max = 50) {}

  get more(): number {
    return this.count - this.listed.length;
  }

  add(finding: T): void {
    this.addAll([finding], 1);
  }

  /** Adds `count` findings, the first of which are in `first`. */
  addAll(first: readonly T[], count: number): void {
    this.listed.push(...first.slice(0, Math.max(0, this.max - this.listed.length)));
    this.count += count;
  }
}
