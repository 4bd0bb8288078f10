import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { onTestDatabase } from '../../../test/support/postgres.js';
import { newId } from '../../kernel/ids.js';
import { PersonalKeys } from './personal-keys.js';
import { Sealer } from './sealer.js';

describe('personal keys', () => {
  const master = new Sealer(randomBytes(32));
  const test = onTestDatabase();

  /** The keys of another process, with a separate cache. */
  const ofAProcess = (): PersonalKeys => new PersonalKeys(test.database, master);

  it('are created on first use and shared by all processes and concurrent calls', async () => {
    const subject = newId();
    const [one, two] = await Promise.all([ofAProcess().obtain(subject), ofAProcess().obtain(subject)]);
    expect(two!.open(one!.seal('phone', 'place'), 'place')).toBe('phone');
    const found = await ofAProcess().find([subject, newId()]);
    expect([...found.keys()]).toEqual([subject]);
  });

  it('differ from person to person and are stored wrapped', async () => {
    const keys = ofAProcess();
    const [one, two] = [await keys.obtain(newId()), await keys.obtain(newId())];
    expect(() => two!.open(one!.seal('phone', 'place'), 'place')).toThrow();
    const { rows } = await test.pool.query<{ wrapped_key: string }>(
      'select wrapped_key from platform.personal_keys',
    );
    for (const { wrapped_key: wrapped } of rows) expect(wrapped).toMatch(/^s1\./);
  });

  it('cannot be unwrapped for another person', async () => {
    const [mine, theirs] = [newId(), newId()];
    await ofAProcess().obtain(mine);
    await test.pool.query(
      'insert into platform.personal_keys (subject, wrapped_key) select $2, wrapped_key from platform.personal_keys where subject = $1',
      [mine, theirs],
    );
    await expect(ofAProcess().obtain(theirs)).rejects.toThrow('belongs elsewhere');
  });

  it('are erased permanently, for known and unknown persons', async () => {
    const keys = ofAProcess();
    for (const subject of [newId(), newId()]) {
      await keys.forget(subject);
      await keys.forget(subject);
      expect(await keys.obtain(subject)).toBeNull();
      expect((await keys.find([subject])).size).toBe(0);
    }
    const subject = newId();
    await keys.obtain(subject);
    await keys.forget(subject);
    expect(await keys.obtain(subject)).toBeNull();
  });
});
