import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { batchOf, eventItem } from '../../../../test/support/tracking/event-batches.js';
import { eventJson } from './amplitude.adapter.js';
import type { Analytics, AnalyticsEvent } from './analytics.ports.js';
import {
  ForwardingRound,
  maxBytes,
  PendingBatch,
  ThrottledIdentities,
  toRequests,
} from './forwarding-round.service.js';

const event = fc.record({
  merchant_id: fc.constant('00000000-0000-4000-8000-000000000000'),
  event_id: fc.constant('00000000-0000-4000-8000-000000000000'),
  event_datetime: fc.constant('0001-01-01T00:00:00.000000Z'),
  user_external_id: fc.string({ unit: 'grapheme' }),
  device_id: fc.option(fc.string({ unit: 'binary' })),
  event_name: fc.string({ unit: 'grapheme' }),
  payload: fc.json().map((json) => `{"a":${json}}`),
});

it('requests contain all events in order, within the limits unless a single event is too large', () => {
  fc.assert(
    fc.property(
      fc.array(event, { maxLength: 40 }),
      fc.integer({ min: 1, max: 10 }),
      fc.integer({ min: 1, max: 3000 }),
      (all, limit, bytes) => {
        const requests = toRequests(all, { events: limit, bytes });
        expect(requests.flat()).toEqual(all);
        for (const request of requests) {
          expect(request.length).toBeLessThanOrEqual(limit);
          const size = request.reduce((sum, each) => sum + Buffer.byteLength(eventJson(each)) + 1, 0);
          if (request.length > 1) expect(size).toBeLessThanOrEqual(bytes);
          for (const each of request)
            expect(maxBytes(each)).toBeGreaterThan(Buffer.byteLength(eventJson(each)));
        }
      },
    ),
  );
});

/** A batch with so many failed attempts, and a pending event of each user: `busy of d` has the device d. */
function batchFor(forward_attempts: number, ...users: readonly string[]): PendingBatch {
  const items = users.map((name) => {
    const [user_external_id, device_id] = name.split(' of ');
    return eventItem({ user_external_id, device_id });
  });
  const row = { batch_id: 'b', merchant_id: 'm', item_count: items.length, forward_attempts };
  return new PendingBatch({
    ...row,
    body: Buffer.from(batchOf(items)),
    new_items: Buffer.alloc(items.length, 0xff),
    forward_done: null,
  });
}

interface RecordingAnalytics extends Analytics {
  /** The users of each request. */
  readonly requests: string[][];
}

const providerOf = (
  respond: (events: readonly AnalyticsEvent[]) => Awaited<ReturnType<Analytics['send']>>,
): RecordingAnalytics => {
  const requests: string[][] = [];
  const send: Analytics['send'] = async (events) => {
    requests.push(events.map(({ user_external_id }) => user_external_id));
    return respond(events);
  };
  return { name: 'recording', limits: { events: 1000, bytes: 1_000_000 }, requests, send };
};

/** A provider that accepts no request with more than `most` events of the user. */
const throttling = (most: number, user: string): RecordingAnalytics =>
  providerOf((events) => {
    const throttled = events.flatMap((each, index) =>
      each.user_external_id === user ? [{ index, waitMs: 30_000 }] : [],
    );
    if (throttled.length <= most) return { outcome: 'accepted' };
    return { outcome: 'parted', refused: [], throttled };
  });

const round = (analytics: Analytics, identities = new ThrottledIdentities()): ForwardingRound => {
  const passing = { mayContinue: async () => true, sent: () => undefined };
  return new ForwardingRound({ analytics, identities, maxEvents: 1000, ...passing });
};

it('events of a throttled user or device wait, and other events of a batch are sent at once', async () => {
  const provider = throttling(0, 'busy');
  const [first, other] = [
    batchFor(0, 'busy of d', 'calm', 'other of d'),
    batchFor(1, 'busy', 'calm', 'another of d'),
  ];
  await round(provider).run([first, other]);
  expect(provider.requests).toEqual([['busy', 'calm', 'other'], ['calm'], ['calm']]);
  expect([first, other].map(({ waitMs }) => Math.round(waitMs! / 1000))).toEqual([30, 30]);
  expect([first.finished, first.blamed]).toEqual([false, false]);
});

it('a batch of one throttled user is halved in each round until a part is accepted', async () => {
  for (const [attempts, sizes] of [[8], [4], [2, 2, 2, 2]].entries()) {
    const provider = throttling(2, 'busy');
    const batch = batchFor(attempts, ...Array<string>(8).fill('busy'));
    await round(provider).run([batch]);
    expect(provider.requests.map(({ length }) => length)).toEqual(sizes);
    expect(batch.blamed).toBe(attempts < 2);
    expect(batch.finished).toBe(attempts === 2);
  }
});

it('events of a throttled user wait in later rounds too, and the wait is no failure of a batch', async () => {
  const provider = throttling(0, 'busy');
  const identities = new ThrottledIdentities();
  const [sent, deferred] = [batchFor(0, 'busy'), batchFor(1, 'busy')];
  await round(provider, identities).run([sent, deferred]);
  expect([sent.blamed, deferred.blamed]).toEqual([true, false]);
  const [later, other] = [batchFor(0, 'busy'), batchFor(0, 'calm')];
  await round(provider, identities).run([later, other]);
  expect(provider.requests).toEqual([['busy'], ['calm']]);
  expect([later.blamed, other.finished]).toEqual([false, true]);
});

it('a request that is too large is halved in order within the round, and no batch fails', async () => {
  const provider = providerOf(({ length }) => ({ outcome: length > 2 ? 'too_large' : 'accepted' }));
  const batches = [batchFor(0, 'a', 'b', 'c'), batchFor(0, 'd', 'e')];
  await round(provider).run(batches);
  expect(provider.requests).toEqual([
    ['a', 'b', 'c', 'd', 'e'],
    ['a', 'b', 'c'],
    ['a', 'b'],
    ['c'],
    ['d', 'e'],
  ]);
  expect(batches.map(({ finished, blamed }) => [finished, blamed])).toEqual([
    [true, false],
    [true, false],
  ]);
});
