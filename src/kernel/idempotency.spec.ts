import { describe, expect, it } from '@jest/globals';
import { IdempotencyKeyExpired, requireIdempotent } from './idempotency.js';

describe('a request that is repeated under an Idempotency-Key', () => {
  const done = '2026-01-01T00:00:00.000Z';

  it('has the same result for 29 days, even with a clock that is behind, and is a new request after that', () => {
    for (const now of ['2025-12-31T23:59:00.000Z', done, '2026-01-30T00:00:00.000Z']) {
      expect(() => requireIdempotent(done, now)).not.toThrow();
    }
    expect(() => requireIdempotent(done, '2026-01-30T00:00:00.001Z')).toThrow(IdempotencyKeyExpired);
  });
});
