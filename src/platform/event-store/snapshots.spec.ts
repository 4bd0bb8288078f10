import { randomBytes } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import fc from 'fast-check';
import { onTestDatabase } from '../../../test/support/postgres.js';
import type { Aggregate, DomainEvent } from '../../kernel/aggregate.js';
import { newId } from '../../kernel/ids.js';
import { PersonalKeys } from '../sealing/personal-keys.js';
import { Sealer } from '../sealing/sealer.js';
import { EventCodec } from './event-codec.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import type { EventStore } from './port.js';
import { CauselessLoop, overridden } from '../../../test/support/event-store/counter.js';
import { Snapshots } from './snapshots.js';

type Named = DomainEvent<'tally.named.v1', { readonly subject: string; readonly name: string | null }>;
interface Tally {
  readonly subject: string | null;
  readonly name: string | null;
  /** A state that depends on every event. */
  readonly changes: number;
}

const tally: Aggregate<Tally, Named> = {
  category: 'tally',
  initial: { subject: null, name: null, changes: 0 },
  evolve: ({ changes }, { data }) => ({ ...data, changes: changes + 1 }),
  snapshots: {
    version: 1,
    events: ['tally.named.v1'],
    pack: (state) => state,
    unpack: (packed) => packed as Tally,
  },
};
const personal = {
  ...tally,
  snapshots: { ...tally.snapshots!, subject: ({ subject }: Tally) => subject },
};
const named = (subject: string, name: string): Named => ({ type: 'tally.named.v1', data: { subject, name } });

describe('snapshots of streams', () => {
  const sealer = new Sealer(randomBytes(32));
  const db = onTestDatabase();
  let store: EventStore;
  let snapshots: Snapshots;
  /** The number of events that loads have read. */
  let read: number;
  let id: string;

  beforeAll(async () => {
    Logger.overrideLogger(false);
  });
  beforeEach(() => {
    const inner = new InMemoryEventStore();
    store = overridden(inner, {
      readStream: async (...args) => {
        const events = await inner.readStream(...args);
        read += events.length;
        return events;
      },
    });
    snapshots = new Snapshots(db.database, sealer, new PersonalKeys(db.database, sealer));
    id = newId();
    read = 0;
  });

  function loop(kept: Snapshots | undefined = snapshots, over = store): CauselessLoop {
    const sealed = { fields: ['name'], subject: 'subject' };
    const codec = new EventCodec(new PersonalKeys(db.database, sealer));
    codec.register([{ type: 'tally.named.v1', sealed }]);
    return new CauselessLoop(over, codec, kept);
  }

  /** Writes events, `size` per command. */
  async function grow(count: number, size = 25, over = store, of = id): Promise<void> {
    for (let from = 0; from < count; from += size) {
      await loop(snapshots, over).execute(tally, of, ({ changes }) =>
        Array.from({ length: Math.min(size, count - from) }, (_, n) => named(of, `name ${changes + n}`)),
      );
    }
  }

  const rows = (): Promise<{ revision: number; subject: string | null; sealed_state: string }[]> =>
    db.database.query('select * from event_store.snapshots where stream = $1 order by revision', [
      `tally-${id}`,
    ]);

  /** The state of all events. */
  const whole = (aggregate = tally): Promise<object> => loop(undefined).load(aggregate, id);

  it('are read by loads and commands, together with only the last events', async () => {
    await grow(1000);
    const expected = await whole();
    read = 0;
    expect(await loop().load(tally, id)).toEqual(expected);
    const { state } = await loop().execute(tally, id, () => [named(id, 'last')]);
    expect(state).toEqual({ subject: id, name: 'last', changes: 1001 });
    expect(read).toBeLessThan(300);
    expect(await rows()).toHaveLength(1);
    expect(await loop(undefined).load(tally, id)).toMatchObject({ state, revision: 1000 });
  });

  it('always equal the state folded from all events, after any commands', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 150 }), { maxLength: 6 }), async (sizes) => {
        id = newId();
        for (const size of sizes) {
          await grow(size, size);
          expect(await loop().load(tally, id)).toEqual(await whole());
        }
      }),
      { numRuns: 8 },
    );
  });

  it('are ignored by code that folds other event types or another state', async () => {
    await grow(200);
    const doubled: typeof tally = {
      ...tally,
      evolve: ({ changes }, { data }) => ({ ...data, changes: changes + 2 }),
      snapshots: { ...tally.snapshots!, version: 2 },
    };
    const widened: typeof tally = {
      ...doubled,
      snapshots: { ...tally.snapshots!, events: ['tally.named.v1', 'tally.emptied.v1'] },
    };
    for (const other of [doubled, widened]) {
      for (let time = 0; time < 2; time += 1) {
        expect((await loop().load(other, id)).state.changes).toBe(400);
        expect((await loop().load(tally, id)).state.changes).toBe(200);
      }
    }
    expect(await rows()).toHaveLength(3);
  });

  it('are replaced if the stream lacks their last event, as after a restore', async () => {
    await grow(300);
    for (const events of [300, 120, 301]) {
      const restored = new InMemoryEventStore(store.atomic);
      await grow(events, events, restored);
      const { state, revision } = await loop(snapshots, restored).load(tally, id);
      expect({ changes: state.changes, revision }).toEqual({ changes: events, revision: events - 1 });
      expect((await rows()).map((row) => row.revision)).toEqual([events - 1]);
    }
  });

  it('are rebuilt if they were changed or moved to another stream', async () => {
    await grow(200);
    const expected = await whole();
    for (const damage of [
      `sealed_state = left(sealed_state, -8)`,
      `sealed_state = 'nonsense'`,
      `revision = revision - 1`,
      `sealed_state = (select sealed_state from event_store.snapshots where stream <> $1 limit 1)`,
    ]) {
      const params = damage.includes('$1') ? '' : ' and $1 is not null';
      await grow(200, 200, store, newId());
      await db.pool.query(`update event_store.snapshots set ${damage} where stream = $1${params}`, [
        `tally-${id}`,
      ]);
      expect(await loop().load(tally, id)).toEqual(expected);
      read = 0;
      expect(await loop().load(tally, id)).toEqual(expected);
      expect(read).toBeLessThan(100);
    }
  });

  it('are sealed with the key of the person, and are not used once this key is erased', async () => {
    const keys = new PersonalKeys(db.database, sealer);
    const kept = new Snapshots(db.database, sealer, keys);
    await grow(200);
    await loop(kept).load(personal, id);
    const [row] = await rows();
    expect(row).toMatchObject({ subject: id });
    expect(JSON.stringify(row)).not.toContain('name 1');
    expect(() => sealer.open(row!.sealed_state, 'any')).toThrow();
    await keys.forget(id);
    const { state } = await loop(kept).load(personal, id);
    expect(state).toEqual({ subject: id, name: null, changes: 200 });
  });

  it('do not fail a command if they cannot be read or written', async () => {
    await db.pool.query('alter table event_store.snapshots rename to moved');
    try {
      await grow(250);
      expect((await loop().load(tally, id)).state.changes).toBe(250);
    } finally {
      await db.pool.query('alter table event_store.moved rename to snapshots');
    }
  });

  it('are not written for streams with events that this version does not know', async () => {
    await grow(50);
    const stray = { id: newId(), type: 'tally.unheard.v1', data: {}, metadata: {} };
    await store.commit({ appends: [{ stream: `tally-${id}`, events: [stray], expected: 49 }] });
    const more = Array.from({ length: 100 }, () => ({
      ...stray,
      id: newId(),
      type: 'tally.named.v1',
      data: { subject: id },
    }));
    await store.commit({ appends: [{ stream: `tally-${id}`, events: more, expected: 50 }] });
    await loop().loadForDisplay(tally, id);
    expect(await rows()).toEqual([]);
  });
});
