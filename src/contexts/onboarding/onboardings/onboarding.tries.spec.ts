import { describe, expect, it } from '@jest/globals';
import { NO_TRIES, requireQuota, withTry, type Tries } from './onboarding.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const start = Date.parse('2026-01-01T00:00:00.000Z');
const after = (ms: number): string => new Date(start + ms).toISOString();

function tried(step: keyof Tries, times: readonly number[]): Tries {
  return times.reduce((tries, ms) => withTry(tries, step, after(ms)), NO_TRIES);
}

describe('the quotas of an onboarding', () => {
  it('delay a fourth identity check until the first is an hour old and report the wait', () => {
    const tries = tried('checks', [0, 10 * MINUTE_MS, 20 * MINUTE_MS]);
    expect(() => requireQuota('checks', tries, after(30 * MINUTE_MS))).toThrow(
      expect.objectContaining({
        code: 'rate_limited',
        message: 'Your identity was checked 3 times within an hour',
        retryAfterSeconds: 1800,
      }),
    );
    expect(() => requireQuota('checks', tries, after(HOUR_MS - 1))).toThrow(
      expect.objectContaining({ retryAfterSeconds: 1 }),
    );
    requireQuota('checks', tries, after(HOUR_MS));
  });

  it('delay an eleventh identity check until the first is a day old', () => {
    const tries = tried(
      'checks',
      Array.from({ length: 10 }, (_, n) => n * HOUR_MS),
    );
    expect(() => requireQuota('checks', tries, after(12 * HOUR_MS))).toThrow('10 times within a day');
    requireQuota('checks', tries, after(24 * HOUR_MS));
  });

  it('count changes of details per day, separately from identity checks', () => {
    const tries = tried('details', Array<number>(20).fill(0));
    expect(() => requireQuota('details', tries, after(1))).toThrow(
      expect.objectContaining({ code: 'rate_limited' }),
    );
    requireQuota('checks', tries, after(1));
    requireQuota('details', tries, after(24 * HOUR_MS));
  });

  it('store only the attempts of the last day', () => {
    const times = Array.from({ length: 1000 }, (_, n) => n * HOUR_MS);
    expect(tried('details', times).details).toHaveLength(24);
  });

  it('stay in force for a process whose clock is behind', () => {
    const tries = tried('checks', [HOUR_MS, HOUR_MS, HOUR_MS]);
    expect(() => requireQuota('checks', tries, after(0))).toThrow(
      expect.objectContaining({ code: 'rate_limited' }),
    );
  });
});
