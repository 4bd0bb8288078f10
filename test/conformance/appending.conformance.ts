import { beforeAll, describe, expect, it } from '@jest/globals';
import { comparePositions, type EventStore, type StreamAppend } from '../../src/platform/event-store/port.js';
import { append, freshStream, someEvent, plain, positionOf, type SubjectOf } from './support.js';

/** What is written is read back, and what is expected is checked. */
export function describeAppending(subject: SubjectOf): void {
  describe('appending', () => {
    let store: EventStore;

    beforeAll(() => {
      store = subject().store;
    });

    it('gives events back as they went in, in order', async () => {
      const stream = freshStream();
      const events = [someEvent({ n: 1 }), someEvent({ n: 2 }), someEvent({ n: 3 })];
      const result = await append(store, stream, events, 'no_stream');
      expect(result).toMatchObject({ outcome: 'committed', revisions: [2] });
      const read = await store.readStream(stream);
      expect(read.map(plain)).toEqual(events.map((event, revision) => ({ ...event, stream, revision })));
      expect(positionOf(result)).toBe(read[2]!.position);
      expect(Math.abs(Date.now() - read[0]!.recordedAt.getTime())).toBeLessThan(60_000);
    });

    it('reads from a revision on, and nothing of a stream that does not exist', async () => {
      const stream = freshStream();
      await append(store, stream, [someEvent(), someEvent(), someEvent()], 'no_stream');
      expect((await store.readStream(stream, { fromRevision: 1 })).map(({ revision }) => revision)).toEqual([
        1, 2,
      ]);
      expect(await store.readStream(stream, { fromRevision: 9 })).toEqual([]);
      const [last] = await store.readStream(stream, { lastOnly: true });
      expect(last).toEqual((await store.readStream(stream)).at(-1));
      expect(await store.readStream(stream, { fromRevision: 9, lastOnly: true })).toEqual([]);
      expect(await store.readStream(freshStream(), { lastOnly: true })).toEqual([]);
      expect(await store.readStream(freshStream())).toEqual([]);
    });

    it.each([
      ['no_stream', 'no_stream', true, false],
      ['revision 0', 0, false, true],
      ['revision 1', 1, false, false],
    ] as const)('checks the expectation %s', async (_, expected, fitsMissing, fitsOne) => {
      const [missing, one] = [freshStream(), freshStream()];
      await append(store, one, [someEvent()], 'no_stream');
      const onMissing = await append(store, missing, [someEvent()], expected);
      expect(onMissing).toMatchObject(
        fitsMissing ? { outcome: 'committed' } : { outcome: 'conflict', stream: missing, actual: null },
      );
      const onOne = await append(store, one, [someEvent()], expected);
      expect(onOne).toMatchObject(
        fitsOne ? { outcome: 'committed', revisions: [1] } : { outcome: 'conflict', stream: one, actual: 0 },
      );
      expect(await store.readStream(missing)).toHaveLength(fitsMissing ? 1 : 0);
      expect(await store.readStream(one)).toHaveLength(fitsOne ? 2 : 1);
    });

    it('changes nothing when the same event ids come again, also with a stale expectation', async () => {
      const stream = freshStream();
      const events = [someEvent(), someEvent()];
      const first = await append(store, stream, events, 'no_stream');
      await append(store, stream, [someEvent()], 1);
      const again = await append(store, stream, events, 'no_stream');
      expect(again).toMatchObject({ outcome: 'committed', revisions: [1] });
      expect(positionOf(again)).toBe(positionOf(first));
      expect(await append(store, stream, events, 0)).toMatchObject({ outcome: 'committed', revisions: [1] });
      expect(await store.readStream(stream)).toHaveLength(3);
    });

    it('takes an append without events as a check', async () => {
      const [checked, written] = [freshStream(), freshStream()];
      await append(store, checked, [someEvent()], 'no_stream');
      const check = (expected: StreamAppend['expected']): StreamAppend => ({
        stream: checked,
        events: [],
        expected,
      });
      const write: StreamAppend = { stream: written, events: [someEvent()], expected: 'no_stream' };
      expect(await store.commit({ appends: [check('no_stream'), write] })).toMatchObject({
        outcome: 'conflict',
        stream: checked,
      });
      expect(await store.commit({ appends: [check(4), write] })).toMatchObject({
        outcome: 'conflict',
        actual: 0,
      });
      expect(await store.readStream(written)).toEqual([]);
      expect(await store.commit({ appends: [check(0), write] })).toMatchObject({
        outcome: 'committed',
        revisions: [0, 0],
      });
      expect(await store.commit({ appends: [check(0)] })).toEqual({
        outcome: 'committed',
        position: null,
        revisions: [0],
      });
      expect(await store.readStream(checked)).toHaveLength(1);
      await append(store, checked, [someEvent()], 0);
      expect(await store.commit({ appends: [check(0)] })).toMatchObject({ outcome: 'conflict', actual: 1 });
      const missing = { stream: freshStream(), events: [], expected: 0 };
      expect(await store.commit({ appends: [missing] })).toMatchObject({ outcome: 'conflict', actual: null });
    });

    it('writes several streams, all or none where the store is atomic', async () => {
      const [used, free] = [freshStream(), freshStream()];
      await append(store, used, [someEvent()], 'no_stream');
      const to = (stream: string): StreamAppend => ({
        stream,
        events: [someEvent()],
        expected: 'no_stream',
      });
      expect(await store.commit({ appends: [to(free), to(used)] })).toMatchObject({
        outcome: 'conflict',
        stream: used,
        actual: 0,
      });
      expect(await store.readStream(free)).toHaveLength(store.atomic ? 0 : 1);
      const [one, two] = [freshStream(), freshStream()];
      expect(await store.commit({ appends: [to(one), to(two)] })).toMatchObject({
        outcome: 'committed',
        revisions: [0, 0],
      });
      const [first] = await store.readStream(one);
      const [second] = await store.readStream(two);
      expect(comparePositions(first!.position, second!.position)).toBeLessThan(0);
    });

    it('keeps every character and every digit', async () => {
      const stream = freshStream();
      const data = {
        text: 'Zoë 💸 \u0000\u001e\u2028 "\\ \ud83d',
        'clé \u001f': ['', null, true, { deep: [[[1.5, -0.25]]] }],
        amount: '123456789012345678901234567890.000001',
        safe: Number.MAX_SAFE_INTEGER,
      };
      const event = { ...someEvent(data), metadata: { request_id: 'é\u001e', merchant_id: 'm' } };
      await append(store, stream, [event], 'no_stream');
      const [read] = await store.readStream(stream);
      expect(plain(read!)).toEqual({ ...event, stream, revision: 0 });
    });

    it('holds events of a megabyte', async () => {
      const stream = freshStream();
      const events = [someEvent({ body: 'x'.repeat(1_000_000) }), someEvent({ body: 'é'.repeat(250_000) })];
      for (const [place, event] of events.entries()) {
        await append(store, stream, [event], place === 0 ? 'no_stream' : place - 1);
      }
      expect((await store.readStream(stream)).map(({ data }) => data)).toEqual(
        events.map(({ data }) => data),
      );
    });

    it('refuses events of which some are in the stream already', async () => {
      const { store } = subject();
      const stream = freshStream();
      const known = someEvent();
      await append(store, stream, [known], 'no_stream');
      const result = await append(store, stream, [known, someEvent()], 0);
      expect(result).toEqual({ outcome: 'conflict', stream, actual: 0 });
      expect(await store.readStream(stream)).toHaveLength(1);
    });
  });
}
