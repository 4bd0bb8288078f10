import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { newId } from '../../kernel/ids.js';
import { Sealer } from '../sealing/sealer.js';
import { EventCodec, type EventTypeDefinition } from './event-codec.js';
import type { JsonObject, NewEvent, RecordedEvent } from './port.js';
import { LazyEvent } from './postgres/postgres-event-store.js';

const CREATED: EventTypeDefinition = {
  type: 'user.created.v1',
  sealed: { fields: ['phone_number', 'email'], subject: 'user_id' },
};
const RENAMED: EventTypeDefinition = {
  type: 'thing.happened.v1',
  upcast: { to: 'thing.happened.v2', with: ({ amount, ...rest }) => ({ ...rest, total: amount ?? null }) },
};
const SEALED_AND_RENAMED: EventTypeDefinition = {
  type: 'user.called.v1',
  sealed: { fields: ['phone'], subject: 'user_id' },
  upcast: { to: 'user.called.v2', with: ({ phone, ...rest }) => ({ ...rest, phone_number: phone ?? null }) },
};

/** Keys in memory, with a count of the calls. */
class KeyRing {
  readonly keys = new Map<string, Sealer>();
  calls = 0;

  async obtain(subject: string): Promise<Sealer | null> {
    this.calls += 1;
    if (!this.keys.has(subject)) this.keys.set(subject, new Sealer(randomBytes(32)));
    return this.keys.get(subject) ?? null;
  }

  async find(): Promise<ReadonlyMap<string, Sealer>> {
    this.calls += 1;
    return this.keys;
  }
}

function setUp(...more: readonly EventTypeDefinition[]) {
  const ring = new KeyRing();
  const codec = new EventCodec(ring);
  codec.register([CREATED, RENAMED, { type: 'thing.happened.v2' }, SEALED_AND_RENAMED, ...more]);
  return { codec, ring };
}

const event = (type: string, data: JsonObject): NewEvent => ({ id: newId(), type, data, metadata: {} });

function recorded(stream: string, events: readonly NewEvent[]): readonly RecordedEvent[] {
  return events.map(
    ({ id, type, data, metadata }, revision) =>
      new LazyEvent(
        String(revision),
        stream,
        revision,
        id,
        type,
        JSON.stringify(data),
        JSON.stringify(metadata),
        0,
      ),
  );
}

const AS_STORED = { metadata: {}, recordedAt: new Date(0) };

describe('the event codec', () => {
  const user = { user_id: 'u', phone_number: '+15550100', email: null, created_at: 'then' };

  it('seals the personal fields of new events and opens the sealed fields of stored events', async () => {
    const { codec } = setUp();
    const stored = await codec.encode('user-u', [event(CREATED.type, user)]);
    expect(stored[0]!.data).toEqual({ ...user, phone_number: expect.stringMatching(/^s1\./) });
    const [opened] = await codec.decode(recorded('user-u', stored));
    expect(opened).toMatchObject({
      type: CREATED.type,
      data: user,
      stream: 'user-u',
      revision: 0,
      ...AS_STORED,
    });
  });

  it('does not open fields that were moved to another stream', async () => {
    const { codec } = setUp();
    const stored = await codec.encode('user-u', [event(CREATED.type, user)]);
    await expect(codec.decode(recorded('user-v', stored))).rejects.toThrow('belongs elsewhere');
  });

  it('reads the personal fields of an erased person as null, and writes them as null', async () => {
    const { codec, ring } = setUp();
    const stored = await codec.encode('user-u', [event(CREATED.type, user)]);
    ring.keys.delete('u');
    const [opened] = await codec.decode(recorded('user-u', stored));
    expect(opened!.data).toEqual({ ...user, phone_number: null });
    ring.obtain = async () => null;
    const [later] = await codec.encode('user-u', [event(CREATED.type, user)]);
    expect(later!.data).toEqual({ ...user, phone_number: null });
  });

  it('upcasts old events, sealed or not, and returns the current name of an old type', async () => {
    const { codec } = setUp({ type: 'user.called.v2' });
    const old = [
      event(RENAMED.type, { amount: '1', at: 'then' }),
      event(SEALED_AND_RENAMED.type, { user_id: 'u', phone: '+1' }),
    ];
    const stored = await codec.encode('s-1', old);
    const read = await codec.decode(recorded('s-1', stored));
    expect(read.map(({ type, data }) => ({ type, data }))).toEqual([
      { type: 'thing.happened.v2', data: { at: 'then', total: '1' } },
      { type: 'user.called.v2', data: { user_id: 'u', phone_number: '+1' } },
    ]);
    expect(codec.currentName(RENAMED.type)).toBe('thing.happened.v2');
    expect(codec.currentName('thing.happened.v2')).toBe('thing.happened.v2');
  });

  it('reads no personal keys for event types without personal fields', async () => {
    const { codec, ring } = setUp();
    const events = [event('thing.happened.v2', { total: '1' })];
    expect(await codec.encode('s-1', events)).toBe(events);
    const read = recorded('s-1', events);
    expect(await codec.decode(read)).toBe(read);
    expect(ring.calls).toBe(0);
  });

  it('refuses to write events of an unregistered type, and reads them unchanged', async () => {
    const { codec } = setUp();
    await expect(codec.encode('s-1', [event('stray.v1', {})])).rejects.toThrow('stray.v1 is not registered');
    const read = recorded('s-1', [event('stray.v1', { a: 1 })]);
    expect(await codec.decode(read)).toBe(read);
  });
});
