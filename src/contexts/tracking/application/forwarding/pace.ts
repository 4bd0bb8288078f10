/** Keeps events under a rate: after some were taken, the next wait for as long as these take at that rate. */
export class Pace {
  /** On the clock of `performance.now()`. */
  private freeAt = 0;

  constructor(private readonly perSecond: number) {}

  /** The most events of one request, so that no wait is much longer than a second. */
  get most(): number {
    return this.perSecond;
  }

  /** Milliseconds until the next request may go. */
  waitMs(now: number): number {
    return Math.max(0, this.freeAt - now);
  }

  taken(events: number, now: number): void {
    this.freeAt = Math.max(now, this.freeAt) + (events * 1000) / this.perSecond;
  }
}
