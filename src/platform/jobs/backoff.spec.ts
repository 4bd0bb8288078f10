import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { backoffMs } from './backoff.js';

const backoff = { firstMs: 1000, maxMs: 300_000 };

describe('a backoff', () => {
  it('doubles up to its limit', () => {
    const longest = [0, 1, 2, 8, 9, 40, 1_000_000].map((attempt) => backoffMs(backoff, attempt, () => 1));
    expect(longest).toEqual([1000, 2000, 4000, 256_000, 300_000, 300_000, 300_000]);
  });

  it('lies at random between the half and the whole of its delay', () => {
    fc.assert(
      fc.property(
        fc.nat(),
        fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
        (attempt, random) => {
          const delay = Math.min(300_000, 1000 * 2 ** Math.min(attempt, 30));
          const spread = backoffMs(backoff, attempt, () => random);
          expect(spread).toBeGreaterThanOrEqual(delay / 2);
          expect(spread).toBeLessThanOrEqual(delay);
        },
      ),
    );
  });
});
