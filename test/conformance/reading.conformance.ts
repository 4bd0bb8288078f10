import { describe, expect, it } from '@jest/globals';
import { isUuid } from '../../src/kernel/ids.js';
import { followLog } from '../../src/platform/event-store/log-pages.js';
import type { EventStore, RecordedEvent, StreamAppend } from '../../src/platform/event-store/port.js';
import {
  appendNumbered,
  freshStream,
  isAscending,
  numbersOf,
  someEvent,
  take,
  type Subject,
} from './support.js';

export function describeReading(subject: Subject): void {
  describe('under concurrency', () => {
    it('accepts exactly one of 64 writers for each revision', async () => {
      const stream = freshStream();
      const others = subject.open();
      const results = await Promise.all(
        Array.from({ length: 64 }, (_, n) =>
          (n % 2 === 0 ? subject.store : others).commit({
            appends: [{ stream, events: [someEvent({ n })], expected: 'no_stream' }],
          }),
        ),
      );
      expect(results.filter(({ outcome }) => outcome === 'committed')).toHaveLength(1);
      expect(results.filter(({ outcome }) => outcome === 'conflict')).toHaveLength(63);
      expect(await subject.store.readStream(stream)).toHaveLength(1);
    });

    it('accepts all of 64 writers that retry, without a gap', async () => {
      const stream = freshStream();
      const others = subject.open();
      const write = async (to: EventStore, n: number): Promise<void> => {
        const events = [someEvent({ n })];
        for (let expected: StreamAppend['expected'] = 'no_stream'; ;) {
          const result = await to.commit({ appends: [{ stream, events, expected }] });
          if (result.outcome === 'committed') return;
          if (result.outcome === 'conflict') expected = result.actual ?? 'no_stream';
        }
      };
      await Promise.all(Array.from({ length: 64 }, (_, n) => write(n % 2 === 0 ? subject.store : others, n)));
      const read = await subject.store.readStream(stream);
      expect(read.map(({ revision }) => revision)).toEqual(Array.from({ length: 64 }, (_, n) => n));
      expect(new Set(read.map(({ data }) => data['n'])).size).toBe(64);
    });

    it('returns everything that 16 writers of two processes write to a subscriber, once and in order', async () => {
      const perWriter = 60;
      const others = subject.open();
      const reader = subject.open();
      const start = await subject.store.head();
      const mine = freshStream();
      const seen: RecordedEvent[] = [];
      const reading = (async () => {
        for await (const events of followLog(reader, start, new AbortController().signal)) {
          seen.push(...events.filter(({ stream }) => stream.startsWith(mine)));
          if (seen.length >= 16 * perWriter) return;
        }
      })();
      await Promise.all(
        Array.from({ length: 16 }, (_, writer) =>
          appendNumbered(writer % 2 === 0 ? subject.store : others, `${mine}x${writer}`, perWriter),
        ),
      );
      await reading;
      expect(seen).toHaveLength(16 * perWriter);
      expect(new Set(seen.map(({ id }) => id)).size).toBe(16 * perWriter);
      for (let writer = 0; writer < 16; writer += 1) {
        const own = seen.filter(({ stream }) => stream === `${mine}x${writer}`);
        expect(own.map(({ revision }) => revision)).toEqual(Array.from({ length: perWriter }, (_, n) => n));
      }
      expect(isAscending(seen.map(({ position }) => position))).toBe(true);
    });
  });

  describe('reading all events', () => {
    it('returns pages in position order from any position', async () => {
      const start = await subject.store.head();
      const stream = freshStream();
      await appendNumbered(subject.store, stream, 7);
      const paged: RecordedEvent[] = [];
      for (let after = start; ; after = paged.at(-1)!.position) {
        const page = await subject.store.readAll(after, 3);
        expect(page.length).toBeLessThanOrEqual(3);
        paged.push(...page);
        if (page.length === 0) break;
      }
      expect(numbersOf(paged, stream)).toEqual([0, 1, 2, 3, 4, 5, 6]);
      expect(await subject.store.head()).toBe(paged.at(-1)!.position);
    });

    it('returns large events in pages without losing any', async () => {
      const start = await subject.store.head();
      const stream = freshStream();
      await appendNumbered(subject.store, stream, 24, { body: 'x'.repeat(900_000) });
      const paged: RecordedEvent[] = [];
      for (let page = await subject.store.readAll(start, 5000); page.length > 0;) {
        paged.push(...page);
        page = await subject.store.readAll(page.at(-1)!.position, 5000);
      }
      expect(numbersOf(paged, stream)).toEqual(Array.from({ length: 24 }, (_, n) => n));
    });

    it('resumes at the checkpoint after a kill', async () => {
      const stream = freshStream();
      const start = await subject.store.head();
      await appendNumbered(subject.store, stream, 6);
      const before = subject.open();
      const first = await take(before, start, stream, 3);
      await before.close();
      const after = subject.open();
      const rest = await take(after, first.at(-1)!.position, stream, 3);
      expect(numbersOf([...first, ...rest], stream)).toEqual([0, 1, 2, 3, 4, 5]);
    });

    it('ends the iteration of a follower once its signal aborts', async () => {
      const stopping = new AbortController();
      const following = followLog(subject.store, await subject.store.head(), stopping.signal);
      const ended = (async () => {
        for await (const events of following) expect(events.length).toBeGreaterThan(0);
      })();
      stopping.abort();
      await ended;
    });

    it('returns the identity of the log, wherever it is opened', async () => {
      const head = await subject.store.head();
      const other = subject.open();
      const [first, second] = await Promise.all([subject.store.identity(), other.identity()]);
      expect(isUuid(first)).toBe(true);
      expect(second).toBe(first);
      expect(await subject.store.head()).toBe(head);
    });
  });
}
