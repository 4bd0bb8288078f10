import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { InMemoryEventStore, type Memory } from '../../../test/support/in-memory-event-store.js';
import { newId } from '../../kernel/ids.js';
import { Sealer } from '../sealing/sealer.js';
import { AuthenticEventStore, FORGED_EVENT, hasValidMac, withMac } from './authentic-event-store.js';
import { followLog } from './log-pages.js';
import type { EventStore, NewEvent, RecordedEvent } from './port.js';

const event = (n: number): NewEvent => ({ id: newId(), type: 'thing.created.v1', data: { n }, metadata: {} });

describe('an event store whose events have MACs', () => {
  const sealer = new Sealer(randomBytes(32));
  let memory: Memory;
  let inner: InMemoryEventStore;
  let store: AuthenticEventStore;

  beforeEach(async () => {
    memory = { events: [], responses: new Map() };
    inner = new InMemoryEventStore(true, memory);
    store = new AuthenticEventStore(inner, sealer);
    await store.commit({
      appends: [{ stream: 'thing-1', events: [event(0), event(1)], expected: 'no_stream' }],
    });
    await store.commit({ appends: [{ stream: 'thing-1', events: [event(2)], expected: 1 }] });
  });
  afterEach(async () => {
    await store.close();
    jest.restoreAllMocks();
  });
  /** Rewrites the second event without the key ring. */
  const tamper = (change: Partial<RecordedEvent>): void => {
    const { stream, revision, position, id, type, data, metadata, recordedAt } = memory.events[1]!;
    memory.events[1] = { stream, revision, position, id, type, data, metadata, recordedAt, ...change };
  };
  const forged = async (): Promise<readonly (true | undefined)[]> =>
    (await store.readAll(null, 10)).map(({ isForged }) => isForged);

  /** The marks of the first events that a follower reads. */
  const followed = async (from: EventStore, after: string | null = null): Promise<unknown> => {
    const { value } = await followLog(from, after, new AbortController().signal).next();
    return (value as readonly RecordedEvent[]).map(({ isForged }) => isForged);
  };

  it('refuses to read a stream if an event before the last one was deleted', async () => {
    const error = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    memory.events.splice(1, 1);
    await expect(store.readStream('thing-1')).rejects.toMatchObject({ code: 'unavailable' });
    await expect(store.readStream('thing-1', { fromRevision: 1 })).rejects.toMatchObject({
      code: 'unavailable',
    });
    expect(error).toHaveBeenCalledWith(expect.objectContaining({ stream: 'thing-1', revision: 1 }));
    expect(await store.readStream('thing-1', { lastOnly: true })).toMatchObject([{ revision: 2 }]);
  });

  it.each<[string, () => void]>([
    ['other data', () => tamper({ data: { n: 7 } })],
    ['another type', () => tamper({ type: 'thing.paid.v1' })],
    ['another author', () => tamper({ metadata: { actor: 'operator', ...memory.events[1]!.metadata } })],
    ['no MAC', () => tamper({ metadata: {} })],
    ['the MAC of another event', () => tamper({ metadata: memory.events[0]!.metadata })],
  ])('marks an event as forged if it has %s, and refuses to read its stream', async (_what, change) => {
    change();
    const error = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    expect(await forged()).toEqual([undefined, true, undefined]);
    expect(await followed(store)).toEqual([undefined, true, undefined]);
    expect(error).not.toHaveBeenCalled();
    await expect(store.readStream('thing-1')).rejects.toMatchObject({
      code: 'unavailable',
      message: 'The history of this record was changed outside the service',
    });
    const { position, id, type } = memory.events[1]!;
    expect(error).toHaveBeenCalledWith({
      msg: FORGED_EVENT,
      stream: 'thing-1',
      revision: 1,
      position,
      event_id: id,
      type,
    });
  });

  it('accepts the MAC of a key that was added to the ring after this process read the ring', async () => {
    const [former, next] = [randomBytes(32), randomBytes(32)];
    await new AuthenticEventStore(inner, new Sealer(next)).commit({
      appends: [{ stream: 'thing-3', events: [event(0)], expected: 'no_stream' }],
    });
    const error = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    const refreshed = jest.fn<() => void>();
    const stalled = (): AuthenticEventStore => {
      const stale = new Sealer(former);
      return new AuthenticEventStore(inner, stale, async () => {
        refreshed();
        stale.setKeys(next, [former]);
      });
    };
    const { position } = memory.events[2]!;
    expect(await stalled().readStream('thing-3')).toHaveLength(1);
    expect((await stalled().readAll(position, 10)).map(({ isForged }) => isForged)).toEqual([undefined]);
    expect(await followed(stalled(), position)).toEqual([undefined]);
    expect(refreshed).toHaveBeenCalledTimes(3);
    expect(error).not.toHaveBeenCalled();
    await expect(stalled().readStream('thing-1')).rejects.toMatchObject({ code: 'unavailable' });
    const unread = new AuthenticEventStore(inner, new Sealer(former), () =>
      Promise.reject(new Error('no database')),
    );
    await expect(unread.readAll(position, 10)).rejects.toThrow('no database');
  });
});

describe('the MAC of an event', () => {
  const macs = new Sealer(randomBytes(32));
  const place = { stream: 'payout-1', revision: 3 };
  const event = { id: 'the id', type: 'payout.received.v2', data: { amount: '1' }, metadata: { actor: 'a' } };
  const { dataText, metadataText, ...written } = withMac(event, place.stream, place.revision, macs);
  const stored = { ...written, ...place, dataText: dataText!, metadataText: metadataText! };

  it('is valid only for the unchanged event, and only with the key that created the MAC', () => {
    expect([hasValidMac(stored, macs), hasValidMac({ ...written, ...place }, macs)]).toEqual([true, true]);
    expect(hasValidMac(stored, new Sealer(randomBytes(32)))).toBe(false);
  });

  it.each<[string, Partial<typeof stored>]>([
    ['in another stream', { stream: 'payout-2' }],
    ['at another revision of its stream', { revision: 4 }],
    ['under another id', { id: 'another' }],
    ['of another type', { type: 'payout.expired.v1' }],
    ['with other data', { dataText: '{"amount":"2"}' }],
    ['with other metadata', { metadataText: metadataText!.replace('"actor":"a"', '"actor":"b"') }],
    ['without its MAC', { metadataText: '{"actor":"a"}' }],
  ])('is wrong if the event is %s', (_name, changed) => {
    expect(hasValidMac({ ...stored, ...changed }, macs)).toBe(false);
  });
});
