/** Differences listed; all are counted. */
const LISTED = 50;

/** What read models say otherwise than the replay. */
export class Differences {
  readonly listed: string[] = [];
  count = 0;

  add(what: string): void {
    this.count += 1;
    if (this.listed.length < LISTED) this.listed.push(what);
  }

  /** `count` of them, of which these are the first. */
  addAll(first: readonly string[], count: number): void {
    this.listed.push(...first.slice(0, Math.max(0, LISTED - this.listed.length)));
    this.count += count;
  }
}
