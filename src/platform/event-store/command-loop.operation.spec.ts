import { AsyncResource } from 'node:async_hooks';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../kernel/ids.js';
import {
  add,
  counter,
  loopOver,
  overridden,
  type CauselessLoop,
} from '../../../test/support/event-store/counter.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { SubjectChanged, withinOperation, type CurrentOperation } from './command-loop.js';

describe.each([true, false])('a change within an operation, on a store that is atomic: %s', (atomic) => {
  let store: InMemoryEventStore;
  let loop: CauselessLoop;

  beforeEach(async () => {
    store = new InMemoryEventStore(atomic);
    loop = loopOver(store);
    await loop.execute(counter, 'one', () => [add(1)]);
  });

  const operation = (expected: Record<string, number | null>): CurrentOperation => ({
    id: newId(),
    expected: new Map(Object.entries(expected)),
    written: [],
  });
  const within = (current: CurrentOperation, id: string, by = loop): Promise<unknown> =>
    withinOperation(current, () => by.execute(counter, id, () => [add(2)]));

  it('records the operation as the cause of its events', async () => {
    const current = operation({ 'counter-one': 0 });
    await within(current, 'one');
    await within(current, 'one');
    const events = (await store.readStream('counter-one')).slice(1);
    expect(events.map(({ metadata }) => metadata.operation_id)).toEqual([current.id, current.id]);
    expect(current.written).toEqual(
      events.map(({ id: eventId, stream, type }) => ({ stream, eventId, type })),
    );
    await loop.execute(counter, 'one', () => [add(3)]);
    expect((await store.readStream('counter-one')).at(-1)!.metadata).not.toHaveProperty('operation_id');
  });

  it.each([
    ['the stream that it changes', { 'counter-one': 1 }, 'one'],
    ['a stream that should not exist yet', { 'counter-one': null }, 'one'],
    ['another stream of its subject', { 'counter-one': 1, 'counter-two': null }, 'two'],
  ])('writes nothing if %s is not at the expected revision', async (_, expected, id) => {
    const head = await store.head();
    await expect(within(operation(expected), id)).rejects.toThrow(SubjectChanged);
    expect(await store.head()).toBe(head);
  });

  it('writes nothing if another request changes the stream between the read and the write', async () => {
    let interfered = false;
    // Another request is not within the operation.
    const other = AsyncResource.bind(() => loop.execute(counter, 'one', () => [add(5)]));
    const meddled = overridden(store, {
      commit: async (commit) => {
        if (!interfered) {
          interfered = true;
          await other();
        }
        return store.commit(commit);
      },
    });
    await expect(within(operation({ 'counter-one': 0 }), 'one', loopOver(meddled))).rejects.toThrow(
      SubjectChanged,
    );
    expect(await store.readStream('counter-one')).toHaveLength(2);
  });
});
