import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  created,
  expired,
  facts,
  paid,
  processing,
  stateAfter,
} from '../../../../test/support/exchange/order-fixtures.js';
import { findEnd, type ExistingOrder } from '../orders/order.js';
import { nextPoll } from './watch-schedule.js';

const start = Date.parse(facts.created_at);
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** Times of polls, in ms after the order was created, until the last one or `untilMs`. */
function polls(state: ExistingOrder, fromMs: number, untilMs: number, random: number): number[] {
  const times: number[] = [];
  for (let at = fromMs; at < untilMs;) {
    times.push(at);
    const delay = nextPoll(state, { nowMs: start + at, intervalMs: 1000, random });
    if (delay === null) return times;
    expect(delay).toBeGreaterThan(0);
    at += delay;
  }
  return times;
}

describe('the schedule of polls', () => {
  it('has a poll up to 10 ms after an open order ends, then at least every 5.5 s, for any jitter', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(stateAfter(created), stateAfter(created, paid)),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (state, random) => {
          const end = Date.parse(findEnd(state)) - start;
          const all = polls(state, end - 5 * MINUTE, end + 5 * MINUTE, random);
          const after = all.filter((at) => at > end);
          expect(after[0]).toBeLessThan(end + 10);
          expect(Math.max(...after.slice(1).map((at, n) => at - after[n]!))).toBeLessThanOrEqual(5500);
        },
      ),
    );
  });

  it.each([
    ['pending, created just now', stateAfter(created), 0, 1000],
    ['pending, created 80 seconds ago', stateAfter(created), 80_000, 10_000],
    ['pending, created 10 minutes ago', stateAfter(created), 10 * MINUTE, 20_000],
    ['pending, one second before its end', stateAfter(created), 60 * MINUTE - 1000, 1001],
    ['over just now', stateAfter(created), 60 * MINUTE, 1000],
    ['over for 24 seconds', stateAfter(created), 60 * MINUTE + 24_000, 3000],
    ['over for 10 minutes', stateAfter(created), 70 * MINUTE, 5000],
    ['exchanged for 8 minutes', stateAfter(created, processing('100', '0.5')), 18 * MINUTE, MINUTE],
    ['exchanged for 10 days', stateAfter(created, processing('100', '0.5')), 10 * DAY, 10 * MINUTE],
    ['expired just now', stateAfter(created, expired), 10 * MINUTE, MINUTE],
    ['expired 16 minutes ago', stateAfter(created, expired), 26 * MINUTE, 2 * MINUTE],
    ['expired 30 days ago', stateAfter(created, expired), 10 * MINUTE + 30 * DAY, DAY],
    ['expired more than 30 days ago', stateAfter(created, expired), 10 * MINUTE + 30 * DAY + 1, null],
  ])('sets the delay of the next poll for an order that is %s', (_what, state, ageMs, delay) => {
    expect(nextPoll(state, { nowMs: start + ageMs, intervalMs: 1000, random: 0.5 })).toBe(delay);
  });

  it('varies a delay of 10 s by up to 10 %', () => {
    const delay = (random: number) =>
      nextPoll(stateAfter(created), { nowMs: start + 80_000, intervalMs: 1000, random });
    expect([delay(0), delay(0.25)]).toEqual([9000, 9500]);
  });
});
