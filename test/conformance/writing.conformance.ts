import { describe, expect, it } from '@jest/globals';
import { newId } from '../../src/kernel/ids.js';
import {
  comparePositions,
  type CommitResult,
  type EventStore,
  type StoredResponse,
  type StreamAppend,
} from '../../src/platform/event-store/port.js';
import { append, freshStream, plain, positionOf, someEvent, type Subject } from './support.js';

/**
 * Writes are read back, expected revisions are checked, and responses of idempotent requests are stored with the
 * events.
 */
export function describeWriting(subject: Subject): void {
  describe('appending', () => {
    it('gives events back as they went in, in order', async () => {
      const stream = freshStream();
      const events = [someEvent({ n: 1 }), someEvent({ n: 2 }), someEvent({ n: 3 })];
      const result = await append(subject.store, stream, events, 'no_stream');
      expect(result).toMatchObject({ outcome: 'committed', revisions: [2] });
      const read = await subject.store.readStream(stream);
      expect(read.map(plain)).toEqual(events.map((event, revision) => ({ ...event, stream, revision })));
      expect(positionOf(result)).toBe(read[2]!.position);
      expect(Math.abs(Date.now() - read[0]!.recordedAt.getTime())).toBeLessThan(60_000);
    });

    it('reads from a revision on, and nothing of a stream that does not exist', async () => {
      const stream = freshStream();
      await append(subject.store, stream, [someEvent(), someEvent(), someEvent()], 'no_stream');
      expect(
        (await subject.store.readStream(stream, { fromRevision: 1 })).map(({ revision }) => revision),
      ).toEqual([1, 2]);
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
      expect(onOne).toMatchObject(
        fitsOne ? { outcome: 'committed', revisions: [1] } : { outcome: 'conflict', stream: one, actual: 0 },
      );
      expect(await subject.store.readStream(missing)).toHaveLength(fitsMissing ? 1 : 0);
      expect(await subject.store.readStream(one)).toHaveLength(fitsOne ? 2 : 1);
    });

    it('changes nothing when the same event ids come again, also with a stale expectation', async () => {
      const stream = freshStream();
      const events = [someEvent(), someEvent()];
      const first = await append(subject.store, stream, events, 'no_stream');
      await append(subject.store, stream, [someEvent()], 1);
      const again = await append(subject.store, stream, events, 'no_stream');
      expect(again).toMatchObject({ outcome: 'committed', revisions: [1] });
      expect(positionOf(again)).toBe(positionOf(first));
      expect(await append(subject.store, stream, events, 0)).toMatchObject({
        outcome: 'committed',
        revisions: [1],
      });
      expect(await subject.store.readStream(stream)).toHaveLength(3);
    });

    it('takes an append without events as a check', async () => {
      const [checked, written] = [freshStream(), freshStream()];
      await append(subject.store, checked, [someEvent()], 'no_stream');
      const check = (expected: StreamAppend['expected']): StreamAppend => ({
        stream: checked,
        events: [],
        expected,
      });
      const write: StreamAppend = { stream: written, events: [someEvent()], expected: 'no_stream' };
      expect(await subject.store.commit({ appends: [check('no_stream'), write] })).toMatchObject({
        outcome: 'conflict',
        stream: checked,
      });
      expect(await subject.store.commit({ appends: [check(4), write] })).toMatchObject({
        outcome: 'conflict',
        actual: 0,
      });
      expect(await subject.store.readStream(written)).toEqual([]);
      expect(await subject.store.commit({ appends: [check(0), write] })).toMatchObject({
        outcome: 'committed',
        revisions: [0, 0],
      });
      expect(await subject.store.commit({ appends: [check(0)] })).toEqual({
        outcome: 'committed',
        position: null,
        revisions: [0],
      });
      expect(await subject.store.readStream(checked)).toHaveLength(1);
      await append(subject.store, checked, [someEvent()], 0);
      expect(await subject.store.commit({ appends: [check(0)] })).toMatchObject({
        outcome: 'conflict',
        actual: 1,
      });
      const missing = { stream: freshStream(), events: [], expected: 0 };
      expect(await subject.store.commit({ appends: [missing] })).toMatchObject({
        outcome: 'conflict',
        actual: null,
      });
    });

    it('writes several streams, all or none where the store is atomic', async () => {
      const [used, free] = [freshStream(), freshStream()];
      await append(subject.store, used, [someEvent()], 'no_stream');
      const to = (stream: string): StreamAppend => ({
        stream,
        events: [someEvent()],
        expected: 'no_stream',
      });
      expect(await subject.store.commit({ appends: [to(free), to(used)] })).toMatchObject({
        outcome: 'conflict',
        stream: used,
        actual: 0,
      });
      expect(await subject.store.readStream(free)).toHaveLength(subject.store.atomic ? 0 : 1);
      const [one, two] = [freshStream(), freshStream()];
      expect(await subject.store.commit({ appends: [to(one), to(two)] })).toMatchObject({
        outcome: 'committed',
        revisions: [0, 0],
      });
      const [first] = await subject.store.readStream(one);
      const [second] = await subject.store.readStream(two);
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
      await append(subject.store, stream, [event], 'no_stream');
      const [read] = await subject.store.readStream(stream);
      expect(plain(read!)).toEqual({ ...event, stream, revision: 0 });
    });

    it('holds events of a megabyte', async () => {
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
    const commitWith = async (
      to: EventStore,
      response: StoredResponse,
      events = [someEvent()],
    ): Promise<CommitResult> =>
      to.commit({ appends: [{ stream: freshStream(), events, expected: 'no_stream' }], response });

    it('travel with the events, or are refused by a store that cannot carry them', async () => {
      const response = responseOf('{"é":"\u001e"}');
      if (!subject.store.carriesResponses) {
        await expect(commitWith(subject.store, response)).rejects.toThrow();
        return;
      }
      expect(await commitWith(subject.store, response)).toMatchObject({ outcome: 'committed' });
      const other = { ...response, fingerprint: 'another', body: 'another' };
      expect(await commitWith(subject.store, other)).toEqual({ outcome: 'responded', response });
      expect(await subject.store.commit({ appends: [], response: other })).toEqual({
        outcome: 'responded',
        response,
      });
    });

    it('are given once when two processes commit under one key, and only the first one writes', async () => {
      if (!subject.store.carriesResponses) return;
      const others = subject.open();
      for (let round = 0; round < 10; round += 1) {
        const response = responseOf('');
        const streams = Array.from({ length: 8 }, freshStream);
        const results = await Promise.all(
          streams.map((stream, n) =>
            (n % 2 === 0 ? subject.store : others).commit({
              appends: [{ stream, events: [someEvent()], expected: 'no_stream' }],
              response: { ...response, body: `by ${n}` },
            }),
          ),
        );
        const winner = results.findIndex(({ outcome }) => outcome === 'committed');
        const expected = { outcome: 'responded', response: { ...response, body: `by ${winner}` } };
        expect(results.filter((_, n) => n !== winner)).toEqual(Array.from({ length: 7 }, () => expected));
        const written = await Promise.all(streams.map((stream) => subject.store.readStream(stream)));
        expect(written.map((events) => events.length)).toEqual(streams.map((_, n) => (n === winner ? 1 : 0)));
      }
    });

    it('are not stored when the events conflict, and are stored by a commit without events', async () => {
      if (!subject.store.carriesResponses) return;
      const response = responseOf('body');
      const stream = freshStream();
      const conflicting = [{ stream, events: [someEvent()], expected: 5 }];
      expect(await subject.store.commit({ appends: conflicting, response })).toMatchObject({
        outcome: 'conflict',
      });
      expect(await subject.store.commit({ appends: [], response })).toEqual({
        outcome: 'committed',
        position: null,
        revisions: [],
      });
      expect(await subject.store.commit({ appends: [], response })).toEqual({
        outcome: 'responded',
        response,
      });
    });

    it('let the very same commit succeed again', async () => {
      if (!subject.store.carriesResponses) return;
      const response = responseOf('');
      const appends = [{ stream: freshStream(), events: [someEvent()], expected: 'no_stream' as const }];
      const first = await subject.store.commit({ appends, response });
      expect(first.outcome).toBe('committed');
      expect(await subject.store.commit({ appends, response })).toEqual(first);
      const other = { ...response, body: 'another' };
      expect(await subject.store.commit({ appends, response: other })).toEqual({
        outcome: 'responded',
        response,
      });
    });
  });
}
