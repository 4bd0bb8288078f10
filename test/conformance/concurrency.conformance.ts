import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  type EventStore,
  type RecordedEvent,
  type StreamAppend,
} from '../../src/platform/event-store/port.js';
import { freshStream, someEvent, isAscending, type SubjectOf } from './support.js';

/** Many writers, in one process and in several. */
export function describeConcurrency(subject: SubjectOf): void {
  describe('under concurrency', () => {
    let store: EventStore;

    beforeAll(() => {
      store = subject().store;
    });

    it('lets exactly one of 64 writers win each revision', async () => {
      const stream = freshStream();
      const others = await subject().open();
      const results = await Promise.all(
        Array.from({ length: 64 }, (_, n) =>
          (n % 2 === 0 ? store : others).commit({
            appends: [{ stream, events: [someEvent({ n })], expected: 'no_stream' }],
          }),
        ),
      );
      expect(results.filter(({ outcome }) => outcome === 'committed')).toHaveLength(1);
      expect(results.filter(({ outcome }) => outcome === 'conflict')).toHaveLength(63);
      expect(await store.readStream(stream)).toHaveLength(1);
    });

    it('brings 64 writers who try again all through, without a gap', async () => {
      const stream = freshStream();
      const others = await subject().open();
      const write = async (to: EventStore, n: number): Promise<void> => {
        const events = [someEvent({ n })];
        for (let expected: StreamAppend['expected'] = 'no_stream'; ;) {
          const result = await to.commit({ appends: [{ stream, events, expected }] });
          if (result.outcome === 'committed') return;
          if (result.outcome === 'conflict') expected = result.actual ?? 'no_stream';
        }
      };
      await Promise.all(Array.from({ length: 64 }, (_, n) => write(n % 2 === 0 ? store : others, n)));
      const read = await store.readStream(stream);
      expect(read.map(({ revision }) => revision)).toEqual(Array.from({ length: 64 }, (_, n) => n));
      expect(new Set(read.map(({ data }) => data['n'])).size).toBe(64);
    });

    it('shows a subscriber everything that 16 writers of two processes write, once and in order', async () => {
      const perWriter = 60;
      const others = await subject().open();
      const reader = await subject().open();
      const subscription = reader.subscribe(await store.head());
      const mine = freshStream();
      const seen: RecordedEvent[] = [];
      const reading = (async () => {
        for await (const events of subscription) {
          seen.push(...events.filter(({ stream }) => stream.startsWith(mine)));
          if (seen.length >= 16 * perWriter) return;
        }
      })();
      await Promise.all(
        Array.from({ length: 16 }, async (_, writer) => {
          const to = writer % 2 === 0 ? store : others;
          for (let n = 0; n < perWriter; n += 1) {
            const expected = n === 0 ? 'no_stream' : n - 1;
            await to.commit({
              appends: [{ stream: `${mine}x${writer}`, events: [someEvent({ n })], expected }],
            });
          }
        }),
      );
      await reading;
      await subscription.close();
      expect(seen).toHaveLength(16 * perWriter);
      expect(new Set(seen.map(({ id }) => id)).size).toBe(16 * perWriter);
      for (let writer = 0; writer < 16; writer += 1) {
        const own = seen.filter(({ stream }) => stream === `${mine}x${writer}`);
        expect(own.map(({ revision }) => revision)).toEqual(Array.from({ length: perWriter }, (_, n) => n));
      }
      expect(isAscending(seen.map(({ position }) => position))).toBe(true);
    });
  });
}
