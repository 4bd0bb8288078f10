import { Injectable } from '@nestjs/common';

/**
 * The number of changes of `webhooks.lanes` that this process has seen last (`webhooks.lane_changes`), and as of when. Each
 * statement that reads it anyway brings it along.
 */
@Injectable()
export class LaneVersion {
  private seen = { version: '', at: -Infinity };

  get version(): string {
    return this.seen.version;
  }

  /** Milliseconds since it was asked for. */
  age(): number {
    return performance.now() - this.seen.at;
  }

  /** `at` is when it was asked for, by `performance.now()`: answers may come in another order. */
  see(version: string, at: number): void {
    if (at > this.seen.at) this.seen = { version, at };
  }
}
