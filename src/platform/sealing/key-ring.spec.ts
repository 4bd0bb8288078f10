import { beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.js';
import { onTestDatabase } from '../../../test/support/postgres.js';
import { newId } from '../../kernel/ids.js';
import { BackgroundWork } from '../jobs/background-work.js';
import { ConfigError } from '../config/settings.js';
import { readCopies, ROOT_ID } from './key-ring-store.js';
import { KeyRing, MasterKey } from './key-ring.js';
import { KeyRotation, ringStatus } from './key-rotation.js';
import { PersonalKeys } from './personal-keys.js';
import { Resealing } from './resealing.js';
import { keyId, Sealer, SealError } from './sealer.js';

describe('the key ring', () => {
  const test = onTestDatabase();
  const masterKey = (n: number): MasterKey => new MasterKey(Buffer.alloc(32, n));
  const [one, two, three] = [masterKey(1), masterKey(2), masterKey(3)];

  beforeEach(() =>
    test.pool.query('truncate platform.key_ring, platform.personal_keys, platform.operation_changes'),
  );

  const open = (current: MasterKey, former: MasterKey | null = null): Promise<KeyRing> =>
    KeyRing.open(test.database, { current, former });
  const rotation = (): KeyRotation => new KeyRotation(test.database);
  const pass = (seconds: number): Promise<unknown> =>
    test.database.query(
      `update platform.key_ring set seals_from = seals_from - make_interval(secs => $1),
         seen_at = seen_at - make_interval(secs => $1)`,
      [seconds],
    );
  const reseal = async (ring: KeyRing): Promise<void> => {
    const resealing = new Resealing(test.database, ring);
    const run = (signal: AbortSignal): Promise<void> => resealing.run(signal);
    const work = new BackgroundWork({ name: 'resealing', everyMs: 1000, run });
    const id = ring.sealer.sealsWith;
    work.start();
    const sql = 'select from platform.key_ring where key_id = $1 and resealed_at is not null';
    await eventually(async () => (await test.database.query(sql, [id])).length > 0);
    await work.stop();
  };

  it('refuses a wrong MASTER_KEY with a message and accepts the right one', async () => {
    const sealed = (await open(one)).sealer.seal('text', 'place');
    await expect(open(two)).rejects.toThrow(ConfigError);
    await expect(open(two)).rejects.toThrow(
      'MASTER_KEY does not match the key this database was sealed with',
    );
    await expect(open(two, three)).rejects.toThrow('Neither MASTER_KEY nor MASTER_KEY_FORMER matches');
    expect((await open(one)).sealer.open(sealed, 'place')).toBe('text');
  });

  it('is created once by processes that boot at the same time', async () => {
    const rings = await Promise.all([open(one), open(one), open(one)]);
    const sealed = rings[0]!.sealer.seal('text', 'place');
    for (const ring of rings) {
      expect(ring.sealer.open(sealed, 'place')).toBe('text');
      expect(ring.root).toEqual(rings[0]!.root);
    }
  });

  it('is not created again if its rows are lost while personal keys remain', async () => {
    const { sealer } = await open(one);
    await new PersonalKeys(test.database, sealer).obtain(newId());
    await test.database.query('truncate platform.key_ring');
    await expect(open(one)).rejects.toThrow(ConfigError);
    await expect(open(one)).rejects.toThrow('The key ring of this database (platform.key_ring) is empty');
    expect(await test.database.query('select from platform.key_ring')).toEqual([]);
  });

  it('seals nothing with the master key itself in a new database', async () => {
    const ring = await open(one);
    expect(ring.sealer.seal('text', 'place').split('.')[1]).not.toBe(keyId(one.bytes));
    expect(ring.root).not.toEqual(one.bytes);
    // The key of names does not open it either.
    expect(() => ring.sealer.open(new Sealer(ring.root).seal('text', 'place'), 'place')).toThrow(SealError);
  });

  it('opens with the former and the new master key until the former one is retired', async () => {
    const former = await open(one);
    const present = await open(two, one);
    expect(present.root).toEqual(former.root);
    expect(present.sealer.open(former.sealer.seal('a', 'p'), 'p')).toBe('a');
    expect(former.sealer.open(present.sealer.seal('b', 'p'), 'p')).toBe('b');
    await open(one);
    await former.refresh();
    expect(former.isLost).toBe(false);

    await pass(121);
    expect(await rotation().retireFormer({ current: two, former: one })).toEqual([one.id]);
    await expect(open(one)).rejects.toThrow(ConfigError);
    await former.refresh();
    expect(former.isLost).toBe(true);
    const sealed = former.sealer.seal('c', 'p');
    expect((await open(two)).sealer.open(sealed, 'p')).toBe('c');
    const ids = (): Promise<unknown> =>
      test.database.query('select key_id from platform.key_ring order by key_id');
    const before = await ids();
    expect(await rotation().retireFormer({ current: two, former: null })).toEqual([]);
    expect(await ids()).toEqual(before);
  });

  it('seals with a new key only 60 s after its addition, when all processes have the key', async () => {
    const [a, b] = [await open(one), await open(one)];
    const before = a.sealer.sealsWith;
    const id = await rotation().addFreshKey({ current: one, former: null });
    await a.refresh();
    expect(a.sealer.sealsWith).toBe(before);
    await b.refresh();
    await pass(61);
    await a.refresh();
    expect(a.sealer.sealsWith).toBe(id);
    expect(b.sealer.sealsWith).toBe(before);
    expect(b.sealer.open(a.sealer.seal('new', 'p'), 'p')).toBe('new');
    expect(a.sealer.open(b.sealer.seal('old', 'p'), 'p')).toBe('old');
  });

  it('gets only one new key for an operation that runs twice, and records each change once', async () => {
    await open(one);
    await open(two, one);
    await pass(121);
    const [creation, retirement] = [newId(), newId()];
    const create = () => rotation().addFreshKey({ current: two, former: one }, creation);
    const id = await create();
    expect(await create()).toBe(id);
    const retire = () => rotation().retireFormer({ current: two, former: one }, retirement);
    expect([await retire(), await retire()]).toEqual([[one.id], [one.id]]);
    const keys = await test.database.query('select from platform.key_ring group by key_id');
    // The root, the first key, and one of each operation.
    expect(keys.length).toBe(4);
    const changes = await test.database.query<{ operation_id: string; what: string }>(
      'select operation_id, what from platform.operation_changes order by changed_at, what',
    );
    expect(changes).toEqual([
      { operation_id: creation, what: 'sealing_key' },
      { operation_id: retirement, what: 'master_key' },
      { operation_id: retirement, what: 'sealing_key' },
    ]);
  });

  it('refuses to retire a former master key while MASTER_KEY lacks a copy of some keys', async () => {
    await open(one);
    await open(two, one);
    await pass(121);
    await test.database.query('delete from platform.key_ring where master_id = $1 and key_id <> $2', [
      two.id,
      ROOT_ID,
    ]);
    await expect(rotation().retireFormer({ current: two, former: one })).rejects.toMatchObject({
      code: 'invalid_transition',
      message: 'MASTER_KEY lacks a copy of some keys',
    });
    // The ring is completed from the copies of the former key.
    const sealed = (await open(one)).sealer.seal('text', 'p');
    expect((await open(two, one)).sealer.open(sealed, 'p')).toBe('text');
  });

  it('refuses to retire a former master key that was used recently, and reports the time of use', async () => {
    await open(one);
    await (await open(one)).refresh();
    await open(two, one);
    await pass(119);
    const retire = () => rotation().retireFormer({ current: two, former: one });
    await expect(retire()).rejects.toThrow('A process used a former key');
    const { masters } = await ringStatus(test.database, { current: two, former: one }, {});
    expect(masters).toMatchObject([
      { id: one.id, setting: 'MASTER_KEY_FORMER', keys: 2 },
      { id: two.id, setting: 'MASTER_KEY', keys: 2, seen_seconds_ago: null },
    ]);
    expect(masters[0]!.seen_seconds_ago).toBeGreaterThanOrEqual(119);
    const unset = await ringStatus(test.database, { current: three, former: null }, {});
    expect(unset.masters.map(({ setting }) => setting)).toEqual([null, null]);
    await pass(2);
    expect(await retire()).toEqual([one.id]);
  });

  it('creates a new key only if the settings contain every master key in use', async () => {
    await open(one);
    await open(two, one);
    for (const former of [null, two])
      await expect(rotation().addFreshKey({ current: two, former })).rejects.toThrow('set that key too');
    const id = await rotation().addFreshKey({ current: two, former: one });
    await pass(61);
    expect((await open(one)).sealer.sealsWith).toBe(id);
    expect((await open(two)).sealer.sealsWith).toBe(id);
  });

  it('does not open personal keys with the former master key after a rotation', async () => {
    const before = await open(one);
    const personal = new PersonalKeys(test.database, before.sealer);
    const subjects = [newId(), newId(), newId()];
    for (const subject of subjects) await personal.obtain(subject);
    const forgotten = subjects[2]!;
    const text = (await personal.obtain(subjects[0]!))!.seal('+1', 'p');
    await personal.forget(forgotten);
    await open(two, one);
    await rotation().retireFormer({ current: two, former: one });
    await pass(130);
    const ring = await open(two);
    await reseal(ring);
    const rows = await test.database.query<{ subject: string; wrapped_key: string }>(
      'select subject, wrapped_key from platform.personal_keys where wrapped_key is not null',
    );
    expect(rows).toHaveLength(2);
    for (const { subject, wrapped_key: wrapped } of rows) {
      expect(() => before.sealer.openBytes(wrapped, `personal-key/${subject}`)).toThrow(SealError);
    }
    for (const copy of await readCopies(test.database)) expect(() => one.unwrap(copy)).toThrow(SealError);
    const keys = new PersonalKeys(test.database, ring.sealer);
    expect((await keys.obtain(subjects[0]!))!.open(text, 'p')).toBe('+1');
    expect(await keys.obtain(forgotten)).toBeNull();
    const status = await ringStatus(test.database, { current: two, former: null }, {});
    expect(status.masters).toMatchObject([{ id: two.id, setting: 'MASTER_KEY', keys: 3 }]);
    expect(status.keys.map((each) => each.sealed)).toEqual([{ personal_keys: 0 }, { personal_keys: 2 }]);
  });

  it('is refused if one of its rows was changed', async () => {
    await open(one);
    await test.database.query(
      `update platform.key_ring set wrapped_key = (select wrapped_key from platform.key_ring
      where key_id = $1) where key_id <> $1`,
      [ROOT_ID],
    );
    await expect(open(one)).rejects.toThrow(SealError);
  });
});
