import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { eventJson } from '../../adapters/amplitude.js';
import type { AnalyticsEvent } from '../ports.js';
import type { BatchInHand, PendingEvent } from './batch-in-hand.js';
import { halvesOf, mostBytes, requestsOf } from './requests.js';

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
  return { batch: {} as BatchInHand, item: 0, event };
}

it('requests hold all events in order, within the limits unless an event alone is over them', () => {
  fc.assert(
    fc.property(
      events,
      fc.integer({ min: 1, max: 10 }),
      fc.integer({ min: 1, max: 3000 }),
      (all, most, bytes) => {
        const given = all.map(pending);
        const requests = requestsOf(given, { events: most, bytes });
        expect(requests.flat()).toEqual(given);
        for (const request of requests) {
          expect(request.length).toBeLessThanOrEqual(most);
          const size = request.reduce((sum, { event }) => sum + Buffer.byteLength(eventJson(event)) + 1, 0);
          if (request.length > 1) expect(size).toBeLessThanOrEqual(bytes);
          for (const { event } of request)
            expect(mostBytes(event)).toBeGreaterThan(Buffer.byteLength(eventJson(event)));
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
