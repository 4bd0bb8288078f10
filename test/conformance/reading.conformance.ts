import { beforeAll, describe, expect, it } from '@jest/globals';
import { isUuid } from '../../src/kernel/ids.js';
import { type EventStore, type RecordedEvent } from '../../src/platform/event-store/port.js';
import { append, freshStream, someEvent, take, type SubjectOf } from './support.js';

/** The one ordered stream of everything. */
export function describeReading(subject: SubjectOf): void {
  describe('reading everything', () => {
    let store: EventStore;

    beforeAll(() => {
      store = subject().store;
    });

    it('pages in position order from any position', async () => {
      const start = await store.head();
      const stream = freshStream();
      for (let n = 0; n < 7; n += 1)
        await append(store, stream, [someEvent({ n })], n === 0 ? 'no_stream' : n - 1);
      const paged: RecordedEvent[] = [];
      for (let after = start; ; after = paged.at(-1)!.position) {
        const page = await store.readAll(after, 3);
        expect(page.length).toBeLessThanOrEqual(3);
        paged.push(...page);
        if (page.length === 0) break;
      }
      expect(paged.filter((event) => event.stream === stream).map(({ data }) => data['n'])).toEqual([
        0, 1, 2, 3, 4, 5, 6,
      ]);
      expect(await store.head()).toBe(paged.at(-1)!.position);
    });

    it('pages through large events without losing any', async () => {
      const start = await store.head();
      const stream = freshStream();
      for (let n = 0; n < 24; n += 1) {
        await append(
          store,
          stream,
          [someEvent({ n, body: 'x'.repeat(900_000) })],
          n === 0 ? 'no_stream' : n - 1,
        );
      }
      const paged: RecordedEvent[] = [];
      for (let page = await store.readAll(start, 5000); page.length > 0;) {
        paged.push(...page);
        page = await store.readAll(page.at(-1)!.position, 5000);
      }
      expect(paged.filter((event) => event.stream === stream).map(({ data }) => data['n'])).toEqual(
        Array.from({ length: 24 }, (_, n) => n),
      );
    });

    it('resumes after a kill where the checkpoint was', async () => {
      const stream = freshStream();
      const start = await store.head();
      for (let n = 0; n < 6; n += 1)
        await append(store, stream, [someEvent({ n })], n === 0 ? 'no_stream' : n - 1);
      const before = await subject().open();
      const first = await take(before, start, stream, 3);
      await before.close();
      const after = await subject().open();
      const rest = await take(after, first.at(-1)!.position, stream, 3);
      expect([...first, ...rest].map(({ data }) => data['n'])).toEqual([0, 1, 2, 3, 4, 5]);
    });

    it('ends the iteration of a subscription that is closed, as often as one likes', async () => {
      const subscription = store.subscribe(await store.head());
      const ended = (async () => {
        for await (const events of subscription) expect(events.length).toBeGreaterThan(0);
      })();
      await subscription.close();
      await subscription.close();
      await ended;
    });

    it('responds to a ping', async () => {
      await store.ping();
    });

    it('knows which log it is, wherever it is opened', async () => {
      const head = await store.head();
      const other = await subject().open();
      const [first, second] = await Promise.all([store.identity(), other.identity()]);
      expect(isUuid(first)).toBe(true);
      expect(second).toBe(first);
      // Nothing that happened: no reader meets it.
      expect(await store.head()).toBe(head);
    });
  });
}
