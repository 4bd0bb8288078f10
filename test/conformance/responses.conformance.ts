import { beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '../../src/kernel/ids.js';
import {
  type CommitResult,
  type EventStore,
  type StoredResponse,
} from '../../src/platform/event-store/port.js';
import { freshStream, someEvent, type SubjectOf } from './support.js';

/** Responses of idempotent requests that ride with the events. */
export function describeResponses(subject: SubjectOf): void {
  describe('responses', () => {
    let store: EventStore;

    beforeAll(() => {
      store = subject().store;
    });

    const responseOf = (body: string): StoredResponse => ({
      scope: 'merchant',
      key: newId(),
      fingerprint: 'POST /payouts',
      status: 201,
      body,
    });
    const commitWith = async (
      to: EventStore,
      response: StoredResponse,
      events = [someEvent()],
    ): Promise<CommitResult> =>
      to.commit({ appends: [{ stream: freshStream(), events, expected: 'no_stream' }], response });

    it('travel with the events, or are refused by a store that cannot carry them', async () => {
      const response = responseOf('{"é":"\u001e"}');
      if (!store.carriesResponses) {
        await expect(commitWith(store, response)).rejects.toThrow();
        return;
      }
      expect(await commitWith(store, response)).toMatchObject({ outcome: 'committed' });
      const other = { ...response, fingerprint: 'another', body: 'another' };
      expect(await commitWith(store, other)).toEqual({ outcome: 'responded', response });
      expect(await store.commit({ appends: [], response: other })).toEqual({
        outcome: 'responded',
        response,
      });
    });

    it('are given once when two processes commit under one key, and only the first one writes', async () => {
      if (!store.carriesResponses) return;
      const others = await subject().open();
      for (let round = 0; round < 10; round += 1) {
        const response = responseOf('');
        const streams = Array.from({ length: 8 }, freshStream);
        const results = await Promise.all(
          streams.map((stream, n) =>
            (n % 2 === 0 ? store : others).commit({
              appends: [{ stream, events: [someEvent()], expected: 'no_stream' }],
              response: { ...response, body: `by ${n}` },
            }),
          ),
        );
        const winner = results.findIndex(({ outcome }) => outcome === 'committed');
        const expected = { outcome: 'responded', response: { ...response, body: `by ${winner}` } };
        expect(results.filter((_, n) => n !== winner)).toEqual(Array.from({ length: 7 }, () => expected));
        const written = await Promise.all(streams.map((stream) => store.readStream(stream)));
        expect(written.map((events) => events.length)).toEqual(streams.map((_, n) => (n === winner ? 1 : 0)));
      }
    });

    it('are not stored when the events conflict, and are stored alone when there are none', async () => {
      if (!store.carriesResponses) return;
      const response = responseOf('body');
      const stream = freshStream();
      const conflicting = [{ stream, events: [someEvent()], expected: 5 }];
      expect(await store.commit({ appends: conflicting, response })).toMatchObject({ outcome: 'conflict' });
      expect(await store.commit({ appends: [], response })).toEqual({
        outcome: 'committed',
        position: null,
        revisions: [],
      });
      expect(await store.commit({ appends: [], response })).toEqual({ outcome: 'responded', response });
    });

    it('let the very same commit succeed again', async () => {
      if (!store.carriesResponses) return;
      const response = responseOf('');
      const appends = [{ stream: freshStream(), events: [someEvent()], expected: 'no_stream' as const }];
      const first = await store.commit({ appends, response });
      expect(first.outcome).toBe('committed');
      expect(await store.commit({ appends, response })).toEqual(first);
      const other = { ...response, body: 'another' };
      expect(await store.commit({ appends, response: other })).toEqual({ outcome: 'responded', response });
    });
  });
}
