import { describe, expect, it } from '@jest/globals';
import { newId } from '../../src/kernel/ids.js';
import {
  comparePositions,
  type CommitResult,
  type StoredResponse,
  type StreamAppend,
} from '../../src/platform/event-store/port.js';
import { append, freshStream, plain, positionOf, someEvent, type Subject } from './support.js';

export function describeWriting(subject: Subject): void {
  const commit = (...appends: readonly StreamAppend[]): Promise<CommitResult> =>
    subject.store.commit({ appends });
  const toNew = (stream: string): StreamAppend => ({ stream, events: [someEvent()], expected: 'no_stream' });
  const committed = (...revisions: readonly number[]): object => ({ outcome: 'committed', revisions });

  describe('appending', () => {
    it('returns events in order as they were appended', async () => {
      const stream = freshStream();
      const events = [someEvent({ n: 1 }), someEvent({ n: 2 }), someEvent({ n: 3 })];
      const result = await append(subject.store, stream, events, 'no_stream');
      expect(result).toMatchObject(committed(2));
      const read = await subject.store.readStream(stream);
      expect(read.map(plain)).toEqual(events.map((event, revision) => ({ ...event, stream, revision })));
      expect(positionOf(result)).toBe(read[2]!.position);
      expect(Math.abs(Date.now() - read[0]!.recordedAt.getTime())).toBeLessThan(60_000);
    });

    it('reads from a given revision on, and nothing of a stream that does not exist', async () => {
      const stream = freshStream();
      await append(subject.store, stream, [someEvent(), someEvent(), someEvent()], 'no_stream');
      const later = await subject.store.readStream(stream, { fromRevision: 1 });
      expect(later.map(({ revision }) => revision)).toEqual([1, 2]);
      expect(await subject.store.readStream(stream, { fromRevision: 9 })).toEqual([]);
      const [last] = await subject.store.readStream(stream, { lastOnly: true });
      expect(last).toEqual((await subject.store.readStream(stream)).at(-1));
      expect(await subject.store.readStream(stream, { fromRevision: 9, lastOnly: true })).toEqual([]);
      expect(await subject.store.readStream(freshStream(), { lastOnly: true })).toEqual([]);
      expect(await subject.store.readStream(freshStream())).toEqual([]);
    });

    it.each([
      ['no_stream', 'no_stream', true, false],
      ['revision 0', 0, false, true],
      ['revision 1', 1, false, false],
    ] as const)('checks the expectation %s', async (_, expected, fitsMissing, fitsOne) => {
      const [missing, one] = [freshStream(), freshStream()];
      await append(subject.store, one, [someEvent()], 'no_stream');
      const onMissing = await append(subject.store, missing, [someEvent()], expected);
      expect(onMissing).toMatchObject(
        fitsMissing ? { outcome: 'committed' } : { outcome: 'conflict', stream: missing, actual: null },
      );
      const onOne = await append(subject.store, one, [someEvent()], expected);
      expect(onOne).toMatchObject(fitsOne ? committed(1) : { outcome: 'conflict', stream: one, actual: 0 });
      expect(await subject.store.readStream(missing)).toHaveLength(fitsMissing ? 1 : 0);
      expect(await subject.store.readStream(one)).toHaveLength(fitsOne ? 2 : 1);
    });

    it('changes nothing if the same event ids are appended again, even with a stale expectation', async () => {
      const stream = freshStream();
      const events = [someEvent(), someEvent()];
      const first = await append(subject.store, stream, events, 'no_stream');
      await append(subject.store, stream, [someEvent()], 1);
      const again = await append(subject.store, stream, events, 'no_stream');
      expect(again).toMatchObject(committed(1));
      expect(positionOf(again)).toBe(positionOf(first));
      expect(await append(subject.store, stream, events, 0)).toMatchObject(committed(1));
      expect(await subject.store.readStream(stream)).toHaveLength(3);
    });

    it('treats an append without events as a check of the revision', async () => {
      const [checked, written] = [freshStream(), freshStream()];
      await append(subject.store, checked, [someEvent()], 'no_stream');
      const check = (expected: StreamAppend['expected'], stream = checked): StreamAppend => {
        return { stream, events: [], expected };
      };
      const conflict = { outcome: 'conflict', stream: checked, actual: 0 };
      const write = toNew(written);
      for (const wrong of ['no_stream', 4] as const)
        expect(await commit(check(wrong), write)).toEqual(conflict);
      expect(await subject.store.readStream(written)).toEqual([]);
      expect(await commit(check(0), write)).toMatchObject(committed(0, 0));
      expect(await commit(check(0))).toEqual({ ...committed(0), position: null });
      expect(await subject.store.readStream(checked)).toHaveLength(1);
      await append(subject.store, checked, [someEvent()], 0);
      expect(await commit(check(0))).toEqual({ ...conflict, actual: 1 });
      expect(await commit(check(0, freshStream()))).toMatchObject({ outcome: 'conflict', actual: null });
    });

    it('writes several streams, all or none if the store is atomic', async () => {
      const [used, free] = [freshStream(), freshStream()];
      await append(subject.store, used, [someEvent()], 'no_stream');
      const conflict = { outcome: 'conflict', stream: used, actual: 0 };
      expect(await commit(toNew(free), toNew(used))).toEqual(conflict);
      expect(await subject.store.readStream(free)).toHaveLength(subject.store.atomic ? 0 : 1);
      const [one, two] = [freshStream(), freshStream()];
      expect(await commit(toNew(one), toNew(two))).toMatchObject(committed(0, 0));
      const [first] = await subject.store.readStream(one);
      const [second] = await subject.store.readStream(two);
      expect(comparePositions(first!.position, second!.position)).toBeLessThan(0);
    });

    it('retains every character and every digit', async () => {
      const stream = freshStream();
      const data = {
        text: 'Zoë 💸 \u0000\u001e\u2028 "\\ \ud83d',
        'clé \u001f': ['', null, true, { deep: [[[1.5, -0.25]]] }],
        amount: '123456789012345678901234567890.000001',
        safe: Number.MAX_SAFE_INTEGER,
      };
      const event = { ...someEvent(data), metadata: { request_id: 'é\u001e', merchant_id: 'm' } };
      await append(subject.store, stream, [event], 'no_stream');
      const [read] = await subject.store.readStream(stream);
      expect(plain(read!)).toEqual({ ...event, stream, revision: 0 });
    });

    it('accepts events of a megabyte', async () => {
      const stream = freshStream();
      const events = [someEvent({ body: 'x'.repeat(1_000_000) }), someEvent({ body: 'é'.repeat(250_000) })];
      for (const [place, event] of events.entries()) {
        await append(subject.store, stream, [event], place === 0 ? 'no_stream' : place - 1);
      }
      expect((await subject.store.readStream(stream)).map(({ data }) => data)).toEqual(
        events.map(({ data }) => data),
      );
    });

    it('refuses events of which some are in the stream already', async () => {
      const stream = freshStream();
      const known = someEvent();
      await append(subject.store, stream, [known], 'no_stream');
      const result = await append(subject.store, stream, [known, someEvent()], 0);
      expect(result).toEqual({ outcome: 'conflict', stream, actual: 0 });
      expect(await subject.store.readStream(stream)).toHaveLength(1);
    });
  });

  describe('responses', () => {
    const responseOf = (body: string): StoredResponse => ({
      scope: 'merchant',
      key: newId(),
      fingerprint: 'POST /payouts',
      status: 201,
      body,
    });
    const commitWith = (
      response: StoredResponse,
      appends = [toNew(freshStream())],
      to = subject.store,
    ): Promise<CommitResult> => to.commit({ appends, response });
    const responded = (response: StoredResponse): CommitResult => ({ outcome: 'responded', response });

    it('are committed with the events, or refused by a store that cannot carry them', async () => {
      const response = responseOf('{"é":"\u001e"}');
      if (!subject.store.carriesResponses) {
        await expect(commitWith(response)).rejects.toThrow();
        return;
      }
      expect(await commitWith(response)).toMatchObject({ outcome: 'committed' });
      const other = { ...response, fingerprint: 'another', body: 'another' };
      for (const appends of [undefined, []])
        expect(await commitWith(other, appends)).toEqual(responded(response));
    });

    it('are stored once if two processes commit under one key, and only the first one writes', async () => {
      if (!subject.store.carriesResponses) return;
      const others = subject.open();
      for (let round = 0; round < 10; round += 1) {
        const response = responseOf('');
        const streams = Array.from({ length: 8 }, freshStream);
        const results = await Promise.all(
          streams.map((stream, n) => {
            const to = n % 2 === 0 ? subject.store : others;
            return commitWith({ ...response, body: `by ${n}` }, [toNew(stream)], to);
          }),
        );
        const winner = results.findIndex(({ outcome }) => outcome === 'committed');
        const expected = responded({ ...response, body: `by ${winner}` });
        expect(results.filter((_, n) => n !== winner)).toEqual(Array.from({ length: 7 }, () => expected));
        const written = await Promise.all(streams.map((stream) => subject.store.readStream(stream)));
        expect(written.map((events) => events.length)).toEqual(streams.map((_, n) => (n === winner ? 1 : 0)));
      }
    });

    it('are not stored if the events conflict, and are stored by a commit without events', async () => {
      if (!subject.store.carriesResponses) return;
      const response = responseOf('body');
      const conflicting = [{ ...toNew(freshStream()), expected: 5 }];
      expect(await commitWith(response, conflicting)).toMatchObject({ outcome: 'conflict' });
      expect(await commitWith(response, [])).toEqual({ ...committed(), position: null });
      expect(await commitWith(response, [])).toEqual(responded(response));
    });

    it('let the same commit succeed again', async () => {
      if (!subject.store.carriesResponses) return;
      const response = responseOf('');
      const appends = [toNew(freshStream())];
      const first = await commitWith(response, appends);
      expect(first.outcome).toBe('committed');
      expect(await commitWith(response, appends)).toEqual(first);
      expect(await commitWith({ ...response, body: 'another' }, appends)).toEqual(responded(response));
    });
  });
}
