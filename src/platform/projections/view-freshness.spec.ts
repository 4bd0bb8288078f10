import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { testDatabase, type TestDatabase } from '../../../test/support/postgres.js';
import { newId } from '../../kernel/ids.js';
import { EventCodec } from '../event-store/event-codec.js';
import { EventRegistry } from '../event-store/event-registry.js';
import { PostgresEventStore } from '../event-store/postgres/postgres-event-store.js';
import { Checkpoints } from './checkpoints.js';
import { SubscriptionRegistry } from './subscription-registry.js';
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

  const checkpoints = (): Checkpoints => new Checkpoints(test.database);

  function freshness(readYourWritesMs: number): ViewProgress {
    const registry = new SubscriptionRegistry();
    registry.register({ name: 'things.views', events: ['thing.done.v1'], apply: async () => undefined });
    const keys = { obtain: async () => null, find: async () => new Map() };
    const codec = new EventCodec(new EventRegistry(), keys);
    return new ViewProgress(checkpoints(), registry, codec, store, { readYourWritesMs });
  }

  it('is not enough while an event that was written before the read is not applied, however young', async () => {
    await expect(freshness(30).require('things.views')).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('is enough once the checkpoint has passed the event', async () => {
    await checkpoints().ensure(['things.views']);
    await checkpoints().move('things.views', null, (await store.head())!);
    await expect(freshness(30_000).require('things.views')).resolves.toBeUndefined();
  });
});
