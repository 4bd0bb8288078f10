import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  base,
  expired,
  facts,
  made,
  minute,
  processing,
  stateAfter,
} from '../../../../test/support/order-story.js';
import { endOf } from './order.js';
import { nextLook, silence } from './watch-schedule.js';

const start = Date.parse(facts.created_at);
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const paid = {
  type: 'order.marked_as_paid.v1',
  data: { ...base, waits_until: minute(10 + 24 * 60) },
} as const;

/** Moments of looks, in ms after the order was made, for as long as there are any or until `untilMs`. */
function looks(
  state: Parameters<typeof nextLook>[0],
  fromMs: number,
  untilMs: number,
  random = 0.5,
): number[] {
  const moments: number[] = [];
  for (let at = fromMs; at < untilMs;) {
    moments.push(at);
    const delay = nextLook(state, { nowMs: start + at, intervalMs: 1000, random });
    if (delay === null) return moments;
    expect(delay).toBeGreaterThan(0);
    at += delay;
  }
  return moments;
}

describe('the schedule of looks', () => {
  it('looks at a pending order every second at first, and ever more rarely: some 250 times in its hour', () => {
    const moments = looks(stateAfter(made), 0, 60 * MINUTE);
    expect(moments.filter((at) => at < 5000)).toHaveLength(5);
    expect(moments.length).toBeLessThan(260);
    expect(Math.max(...moments.slice(1).map((at, n) => at - moments[n]!))).toBeLessThanOrEqual(20_000);
  });

  it('looks right after the end of an order, whatever the jitter, and every few seconds while it cannot end', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(stateAfter(made), stateAfter(made, paid)),
        fc.double({ min: 0, max: 0.999 }),
        (state, random) => {
          const end = Date.parse(endOf(state)) - start;
          const after = looks(
            state,
            end - 5 * MINUTE,
            end + 5 * MINUTE,
            Number.isNaN(random) ? 0 : random,
          ).filter((at) => at > end);
          expect(after[0]).toBeLessThan(end + 10);
          expect(Math.max(...after.slice(1).map((at, n) => at - after[n]!))).toBeLessThanOrEqual(5500);
        },
      ),
    );
  });

  it('looks every ten minutes at an order that is exchanged for days', () => {
    const state = stateAfter(made, processing('100', '0.5'));
    expect(looks(state, 10 * DAY, 11 * DAY).length).toBeLessThan(150);
  });

  it('looks some 90 times in 30 days after the end, and then no more', () => {
    const moments = looks(stateAfter(made, expired), 10 * MINUTE, 400 * DAY);
    expect(moments.length).toBeLessThan(110);
    expect(moments.at(-1)!).toBeGreaterThan(30 * DAY);
    expect(moments.at(-1)!).toBeLessThan(32 * DAY);
  });

  it.each([
    ['pending, made just now', stateAfter(made), 0, 1000],
    ['pending, made 80 seconds ago', stateAfter(made), 80_000, 10_000],
    ['pending, made 10 minutes ago', stateAfter(made), 10 * MINUTE, 20_000],
    ['pending, one second before its end', stateAfter(made), 60 * MINUTE - 1000, 1001],
    ['over just now', stateAfter(made), 60 * MINUTE, 1000],
    ['over for 24 seconds', stateAfter(made), 60 * MINUTE + 24_000, 3000],
    ['over for 10 minutes', stateAfter(made), 70 * MINUTE, 5000],
    ['exchanged for 8 minutes', stateAfter(made, processing('100', '0.5')), 18 * MINUTE, MINUTE],
    ['exchanged for 10 days', stateAfter(made, processing('100', '0.5')), 10 * DAY, 10 * MINUTE],
    ['expired just now', stateAfter(made, expired), 10 * MINUTE, MINUTE],
    ['expired 16 minutes ago', stateAfter(made, expired), 26 * MINUTE, 2 * MINUTE],
    ['expired 30 days ago', stateAfter(made, expired), 10 * MINUTE + 30 * DAY, DAY],
    ['expired longer ago', stateAfter(made, expired), 10 * MINUTE + 30 * DAY + 1, null],
  ])('waits before it checks an order that is %s', (_what, state, ageMs, delay) => {
    expect(nextLook(state, { nowMs: start + ageMs, intervalMs: 1000, random: 0.5 })).toBe(delay);
  });

  it('spreads its checks by a tenth', () => {
    const delay = (random: number) =>
      nextLook(stateAfter(made), { nowMs: start + 80_000, intervalMs: 1000, random });
    expect([delay(0), delay(0.25)]).toEqual([9000, 9500]);
  });

  it('leaves an order alone that the provider is silent about, for five minutes at most', () => {
    expect([0, 1, 2, 30, 1000].map((times) => silence(times, 1000))).toEqual([
      1000, 2000, 4000, 300_000, 300_000,
    ]);
  });
});
