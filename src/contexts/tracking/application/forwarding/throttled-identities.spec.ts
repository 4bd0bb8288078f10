import { beforeEach, describe, expect, it } from '@jest/globals';
import type { AnalyticsEvent } from '../ports.js';
import { ThrottledIdentities } from './throttled-identities.js';

const WAIT = 30_000;

function event(userId: string, deviceId: string | null = null): AnalyticsEvent {
  return { insertId: 'i', userId, deviceId, eventType: 'e', time: 0, payload: '{}' };
}

describe('a throttled user or device', () => {
  let identities: ThrottledIdentities;
  /** How many of `count` events may go at that time. */
  const admitted = (each: AnalyticsEvent, count: number, now: number): number =>
    Array.from({ length: count }).filter(() => identities.waitMs(each, now) === 0).length;

  beforeEach(() => {
    identities = new ThrottledIdentities();
  });

  const throttle = (now: number, ...events: AnalyticsEvent[]): void =>
    identities.throttle(
      events.map((each) => ({ event: each, waitMs: WAIT })),
      now,
    );

  it('waits, and others do not', () => {
    throttle(0, event('u', 'd'));
    expect(identities.waitMs(event('u'), 10_000)).toBe(20_000);
    expect(identities.waitMs(event('other', 'd'), 10_000)).toBe(20_000);
    expect(identities.waitMs(event('other', 'other'), 10_000)).toBe(0);
  });

  it('then gets a share, and a pause after it', () => {
    throttle(0, event('u'));
    expect(admitted(event('u'), 1000, WAIT)).toBe(300);
    expect(identities.waitMs(event('u'), WAIT + 1000)).toBe(WAIT - 1000);
    expect(admitted(event('u'), 1000, 2 * WAIT)).toBe(300);
  });

  it('gets half of the share when that was too much, down to one event', () => {
    const shares: number[] = [];
    for (let now = 0; now < 10 * WAIT; now += WAIT) {
      // Every event of the request is named.
      throttle(now, event('u'), event('u'), event('u'));
      shares.push(admitted(event('u'), 1000, now + WAIT));
    }
    expect(shares).toEqual([300, 150, 75, 37, 18, 9, 4, 2, 1, 1]);
  });

  it('waits as long as the longest wait says', () => {
    const waits = [WAIT, 10 * WAIT, WAIT].map((waitMs) => ({ event: event('u'), waitMs }));
    identities.throttle(waits, 0);
    expect(identities.waitMs(event('u'), 2 * WAIT)).toBe(8 * WAIT);
  });
});
