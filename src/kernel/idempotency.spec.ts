import { describe, expect, it } from '@jest/globals';
import { IdempotencyKeyExpired, requireIdempotent } from './idempotency.js';

describe('a request that is repeated under an Idempotency-Key', () => {
  const done = '2026-01-01T00:00:00.000Z';

  it('is a repeat for 29 days, even if the clock is behind, and later a new request', () => {
    for (const now of ['2025-12-31T23:59:00.000Z', done, '2026-01-30T00:00:00.000Z']) {
      expect(() => requireIdempotent(done, now)).not.toThrow();
    }
    expect(() => requireIdempotent(done, '2026-01-30T00:00:00.001Z')).toThrow(IdempotencyKeyExpired);
  });
});
