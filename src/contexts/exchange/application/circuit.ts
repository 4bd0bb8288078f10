import { backoffMs } from '../../../platform/jobs/backoff.js';
import { ProviderUnavailable } from '../../../platform/outbound/provider-errors.js';
import { withTimeout } from '../../../platform/timeout.js';

/** A call takes this long at most. */
const CALL_TIMEOUT_MS = 10_000;
/** After this many consecutive failed calls within a minute the provider is not called for a while. */
const TOLERATED = 3;
const STREAK_MS = 60_000;
const BACKOFF = { firstMs: 500, maxMs: 5000 };

/** Opens after repeated failures, by the clock that never jumps. */
export class Circuit {
  private failures = 0;
  private failedAt = -Infinity;
  private until = -Infinity;

  /** Until then there are no calls; by `performance.now()`. */
  get openUntil(): number {
    return this.until;
  }

  /**
   * The result of `call`, which begins now. While the circuit is half open one call goes ahead, and the others wait for
   * its result. Throws what `call` throws, and {@link ProviderUnavailable} after the timeout.
   */
  async watch<T>(call: Promise<T>): Promise<T> {
    const startedAt = performance.now();
    if (this.failures >= TOLERATED) this.until = startedAt + CALL_TIMEOUT_MS;
    try {
      const result = await withTimeout(CALL_TIMEOUT_MS, call, isLate);
      this.succeed();
      return result;
    } catch (error) {
      if (error instanceof ProviderUnavailable && error.kind === 'unavailable') this.fail(startedAt);
      else this.succeed();
      throw error;
    }
  }

  private succeed(): void {
    this.failures = 0;
    this.until = -Infinity;
  }

  /** Calls that fail together count once. */
  private fail(startedAt: number): void {
    const now = performance.now();
    if (startedAt < this.failedAt) return;
    this.failures = now - this.failedAt > STREAK_MS ? 1 : this.failures + 1;
    this.failedAt = now;
    if (this.failures >= TOLERATED) this.until = now + backoffMs(BACKOFF, this.failures - TOLERATED);
  }
}

function isLate(): never {
  throw new ProviderUnavailable(`no response within ${CALL_TIMEOUT_MS / 1000} s`);
}
