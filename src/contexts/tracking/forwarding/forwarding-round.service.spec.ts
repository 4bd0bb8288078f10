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

it('requests contain all events in order and exceed the limits only for a single oversized event', () => {
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

/** Attempts, and pending events with their users and devices: `busy` of `d` means the device d. */
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

/** A provider that accepts nothing of a user or device for longer than this many events in a request. */
class ThrottlingProvider implements Analytics {
  readonly name = 'throttling';
  readonly limits = { events: 1000, bytes: 1_000_000 };
  readonly requests: string[][] = [];

  constructor(
    private readonly most: number,
    private readonly isBusy: (event: AnalyticsEvent) => boolean,
  ) {}

  async send(events: readonly AnalyticsEvent[]): ReturnType<Analytics['send']> {
    this.requests.push(events.map(({ user_external_id }) => user_external_id));
    const busy = events.flatMap((each, index) => (this.isBusy(each) ? [{ index, waitMs: 30_000 }] : []));
    if (busy.length <= this.most) return { outcome: 'accepted' };
    return { outcome: 'parted', refused: [], throttled: busy };
  }
}

const round = (analytics: Analytics, identities = new ThrottledIdentities()): ForwardingRound => {
  const passing = { mayContinue: async () => true, sent: () => undefined };
  return new ForwardingRound({ analytics, identities, maxEvents: 1000, ...passing });
};

it('events of a throttled user or device wait with their batch, and others are sent at once', async () => {
  const provider = new ThrottlingProvider(0, ({ user_external_id }) => user_external_id === 'busy');
  const [first, other] = [
    batchFor(0, 'busy of d', 'calm', 'other of d'),
    batchFor(1, 'busy', 'calm', 'another of d'),
  ];
  await round(provider).run([first, other]);
  expect(provider.requests).toEqual([['busy', 'calm', 'other'], ['calm'], ['calm']]);
  expect([first, other].map(({ waitMs }) => Math.round(waitMs! / 1000))).toEqual([30, 30]);
  expect([first.finished, first.blamed]).toEqual([false, false]);
});

it('a batch with only a throttled user is halved by each round until a part is accepted', async () => {
  const provider = new ThrottlingProvider(2, () => true);
  const users = Array.from({ length: 8 }, () => 'busy');
  for (const [attempts, sizes] of [[8], [4], [2, 2, 2, 2]].entries()) {
    provider.requests.length = 0;
    const batch = batchFor(attempts, ...users);
    await round(provider).run([batch]);
    expect(provider.requests.map(({ length }) => length)).toEqual(sizes);
    expect(batch.blamed).toBe(attempts < 2);
    expect(batch.finished).toBe(attempts === 2);
  }
});

it('a throttled user waits in later rounds too, and a batch that only waited is not blamed', async () => {
  const provider = new ThrottlingProvider(0, ({ user_external_id }) => user_external_id === 'busy');
  const identities = new ThrottledIdentities();
  const [sent, deferred] = [batchFor(0, 'busy'), batchFor(1, 'busy')];
  await round(provider, identities).run([sent, deferred]);
  expect([sent.blamed, deferred.blamed]).toEqual([true, false]);
  const [later, other] = [batchFor(0, 'busy'), batchFor(0, 'calm')];
  await round(provider, identities).run([later, other]);
  expect(provider.requests).toEqual([['busy'], ['calm']]);
  expect([later.blamed, other.finished]).toEqual([false, true]);
});

it('requests of more than 2 events that are too large are halved within the round, in order, and no batch is blamed', async () => {
  const sent: string[][] = [];
  const provider: Analytics = {
    name: 'small',
    limits: { events: 1000, bytes: 1_000_000 },
    send: async (events) => {
      sent.push(events.map(({ user_external_id }) => user_external_id));
      return { outcome: events.length > 2 ? 'too_large' : 'accepted' };
    },
  };
  const batches = [batchFor(0, 'a', 'b', 'c'), batchFor(0, 'd', 'e')];
  await round(provider).run(batches);
  expect(sent).toEqual([['a', 'b', 'c', 'd', 'e'], ['a', 'b', 'c'], ['a', 'b'], ['c'], ['d', 'e']]);
  expect(batches.map(({ finished, blamed }) => [finished, blamed])).toEqual([
    [true, false],
    [true, false],
  ]);
});
