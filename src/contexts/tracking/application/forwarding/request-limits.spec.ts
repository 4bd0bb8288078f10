import { expect, it, beforeEach, describe } from '@jest/globals';
import fc from 'fast-check';
import { eventJson } from '../../adapters/amplitude.js';
import type { AnalyticsEvent } from '../ports.js';
import {
  RateLimit,
  halvesOf,
  maxBytes,
  requestsOf,
  ThrottledIdentities,
  type PendingBatch,
  type PendingEvent,
} from './request-limits.js';

it('a rate of 1,000 events per second sends one request at once and the next after 500 ms for 500 events', () => {
  const rate = new RateLimit(1000);
  expect(rate.waitMs(5000)).toBe(0);
  rate.count(500, 5000);
  expect(rate.waitMs(5000)).toBe(500);
  expect(rate.waitMs(5400)).toBe(100);
  rate.count(1000, 5400);
  expect(rate.waitMs(5500)).toBe(1000);
});

it('a pause does not add to the rate afterwards', () => {
  const rate = new RateLimit(10);
  rate.count(10, 0);
  expect(rate.waitMs(60_000)).toBe(0);
  rate.count(10, 60_000);
  expect(rate.waitMs(60_000)).toBe(1000);
});

const events = fc.array(
  fc.record({
    userId: fc.string({ unit: 'grapheme' }),
    deviceId: fc.option(fc.string({ unit: 'binary' })),
    eventType: fc.string({ unit: 'grapheme' }),
    payload: fc.json().map((json) => `{"a":${json}}`),
  }),
  { maxLength: 40 },
);

function pending(
  fields: Pick<AnalyticsEvent, 'userId' | 'deviceId' | 'eventType' | 'payload'>,
): PendingEvent {
  const event = { ...fields, insertId: '00000000-0000-4000-8000-000000000000', time: -62_135_596_800_000 };
  return { batch: {} as PendingBatch, item: 0, event };
}

it('requests hold all events in order, within the limits unless an event alone is over them', () => {
  fc.assert(
    fc.property(
      events,
      fc.integer({ min: 1, max: 10 }),
      fc.integer({ min: 1, max: 3000 }),
      (all, limit, bytes) => {
        const given = all.map(pending);
        const requests = requestsOf(given, { events: limit, bytes });
        expect(requests.flat()).toEqual(given);
        for (const request of requests) {
          expect(request.length).toBeLessThanOrEqual(limit);
          const size = request.reduce((sum, { event }) => sum + Buffer.byteLength(eventJson(event)) + 1, 0);
          if (request.length > 1) expect(size).toBeLessThanOrEqual(bytes);
          for (const { event } of request)
            expect(maxBytes(event)).toBeGreaterThan(Buffer.byteLength(eventJson(event)));
        }
      },
    ),
  );
});

it('halves hold all of a request, and none is empty', () => {
  const given = [1, 2, 3].map((n) =>
    pending({ userId: `${n}`, deviceId: null, eventType: 'e', payload: '{}' }),
  );
  expect(halvesOf(given).map((half) => half.length)).toEqual([2, 1]);
  expect(halvesOf(given.slice(0, 1)).map((half) => half.length)).toEqual([1]);
  expect(halvesOf([])).toEqual([]);
});

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
