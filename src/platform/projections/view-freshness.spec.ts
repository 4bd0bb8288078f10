import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { testDatabase, type TestDatabase } from '../../../test/support/postgres.js';
import { systemClock } from '../../kernel/clock.js';
import { newId } from '../../kernel/ids.js';
import { EventCodec } from '../event-store/event-codec.js';
import { EventRegistry } from '../event-store/event-registry.js';
import { PostgresEventStore } from '../event-store/postgres/postgres-event-store.js';
import { Checkpoints } from './checkpoints.js';
import { SubscriptionLag } from './subscription-lag.js';
import { SubscriptionRegistry } from './subscription-registry.js';
import { ViewFreshness } from './view-freshness.js';
import { ViewProgress } from './view-progress.js';

describe('the freshness of a read model', () => {
  let test: TestDatabase;
  let store: PostgresEventStore;

  beforeAll(async () => {
    test = await testDatabase();
    store = new PostgresEventStore(test.pool);
    const event = { id: newId(), type: 'thing.done.v1', data: {}, metadata: {} };
    await store.commit({ appends: [{ stream: 'thing-1', events: [event], expected: 'no_stream' }] });
  });

  afterAll(async () => {
    await store.close();
    await test.drop();
  });

  function freshness(now: number, limitMs: number): ViewFreshness {
    const registry = new SubscriptionRegistry();
    registry.register({ name: 'things.views', events: ['thing.done.v1'], apply: async () => undefined });
    const clock = { now: () => new Date(now) };
    const checkpoints = new Checkpoints(test.database);
    const keys = { obtain: async () => null, find: async () => new Map() };
    const codec = new EventCodec(new EventRegistry(), keys);
    const progress = new ViewProgress(checkpoints, registry, codec, store, { readYourWritesMs: 30 });
    const lag = new SubscriptionLag(registry, checkpoints, store, clock);
    return new ViewFreshness(progress, lag, { projectionLagLimitMs: limitMs });
  }

  it('is enough while the oldest unapplied event is younger than the limit', async () => {
    await expect(
      freshness(systemClock.now().getTime(), 60_000).require('things.views'),
    ).resolves.toBeUndefined();
  });

  it('is not enough when an event waits for longer', async () => {
    const later = systemClock.now().getTime() + 61_000;
    await expect(freshness(later, 60_000).require('things.views')).rejects.toMatchObject({
      code: 'unavailable',
    });
  });

  it('is enough again once the checkpoint has passed the event', async () => {
    const checkpoints = new Checkpoints(test.database);
    await checkpoints.ensure(['things.views']);
    await checkpoints.move('things.views', null, (await store.head())!);
    const later = systemClock.now().getTime() + 61_000;
    await expect(freshness(later, 60_000).require('things.views')).resolves.toBeUndefined();
  });
});
