import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { nextCheckDelay, noResponseBackoff } from './check-schedule.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const delayOf = (over: Partial<Parameters<typeof nextCheckDelay>[0]>): number =>
  nextCheckDelay({
    ageMs: 0,
    untilExpiryMs: 24 * HOUR,
    finding: 'not_found',
    intervalMs: 1000,
    random: 0.5,
    ...over,
  });

describe('the delay of the next check of a pending payout', () => {
  it.each([
    ['a fresh payout', { ageMs: 0 }, 1000],
    ['a payout after 8 minutes', { ageMs: 8 * MINUTE }, 2 * MINUTE],
    ['a payout after a day', { ageMs: 24 * HOUR }, 30 * MINUTE],
    ['a transfer that lacks confirmations', { ageMs: 24 * HOUR, finding: 'confirming' as const }, 30_000],
    ['a user without a wallet', { finding: 'no_wallet' as const }, 24 * HOUR],
    ['a window that ends sooner', { ageMs: 8 * HOUR, untilExpiryMs: 5000 }, 5000],
    ['a window that is over', { ageMs: 24 * HOUR, untilExpiryMs: -1 }, 15_000],
  ])('matches the schedule for %s', (_name, over, expected) => expect(delayOf(over)).toBe(expected));

  it('never exceeds the end of the window and is never zero', () => {
    const ms = fc.integer({ min: 1, max: 48 * HOUR });
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(ms, ms, random, (ageMs, untilExpiryMs, chance) => {
        const delay = delayOf({ ageMs, untilExpiryMs, random: chance });
        expect(delay).toBeLessThanOrEqual(untilExpiryMs);
        expect(delay).toBeGreaterThanOrEqual(Math.min(untilExpiryMs, 900));
      }),
    );
  });

  it('leads to about 80 checks in a day', () => {
    let checks = 0;
    for (let age = 0; age < 24 * HOUR; age += delayOf({ ageMs: age })) checks += 1;
    expect(checks).toBeGreaterThan(70);
    expect(checks).toBeLessThan(95);
  });
});

describe('the delay of the next check after checks without a usable response', () => {
  it('doubles up to five minutes', () =>
    expect([0, 1, 2, 8, 9, 100].map((times) => noResponseBackoff(times, 1000))).toEqual([
      1000, 2000, 4000, 256_000, 300_000, 300_000,
    ]));
  it('is never shorter than the check interval', () => expect(noResponseBackoff(3, HOUR)).toBe(HOUR));
});
