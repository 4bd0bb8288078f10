import { backoffMs } from '../../../platform/background/backoff.js';

/** A call takes this long at most. */
export const CALL_TIMEOUT_MS = 10_000;
/** After this many consecutive failed calls within a minute the provider is not called for a while. */
const TOLERATED = 3;
const STREAK_MS = 60_000;
const BACKOFF = { firstMs: 500, maxMs: 5000 };

/** Opens after repeated failures, by the clock that never jumps. */
export class Circuit {
  private failures = 0;
  private failedAt = -Infinity;
  openUntil = -Infinity;

  /** While the circuit is half open one call goes ahead, and the others wait for its result. */
  begin(now: number): void {
    if (this.failures >= TOLERATED) this.openUntil = now + CALL_TIMEOUT_MS;
  }

  succeed(): void {
    this.failures = 0;
    this.openUntil = -Infinity;
  }

  /** Calls that fail together count once. */
  fail(startedAt: number): void {
    const now = performance.now();
    if (startedAt < this.failedAt) return;
    this.failures = now - this.failedAt > STREAK_MS ? 1 : this.failures + 1;
    this.failedAt = now;
    if (this.failures >= TOLERATED) this.openUntil = now + backoffMs(BACKOFF, this.failures - TOLERATED);
  }
}

/** By name: a Map, or one that forgets. */
interface Circuits {
  get(name: string): Circuit | undefined;
  set(name: string, circuit: Circuit): unknown;
}

export function circuitIn(circuits: Circuits, name: string): Circuit {
  const known = circuits.get(name);
  if (known !== undefined) return known;
  const circuit = new Circuit();
  circuits.set(name, circuit);
  return circuit;
}
