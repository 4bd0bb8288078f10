import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { onTestDatabase } from '../../../../test/support/postgres.js';
import { newId } from '../../../kernel/ids.js';
import { Sealer } from '../../../platform/sealing/sealer.js';
import { NewSecrets } from './new-secrets.store.js';

describe('the secret of a new credential', () => {
  const test = onTestDatabase();
  let secrets: NewSecrets;
  beforeAll(() => {
    secrets = new NewSecrets(test.database, new Sealer(randomBytes(32)));
  });
  const age = (id: string, time: string): Promise<unknown> =>
    test.database.query(
      `update access.new_secrets set created_at = now() - $2::interval where secret_id = $1`,
      [id, time],
    );
  const stored = async (id: string): Promise<string | undefined> => {
    const sql = 'select sealed from access.new_secrets where secret_id = $1';
    return (await test.database.query<{ sealed: string }>(sql, [id]))[0]?.sealed;
  };

  it('is stored sealed and is the same for each repeat of the request', async () => {
    const id = newId();
    const all = await Promise.all(['one', 'two', 'three'].map((text) => secrets.obtain(id, () => text)));
    expect(new Set(all).size).toBe(1);
    expect(await secrets.find(id)).toBe(all[0]);
    expect(await stored(id)).not.toContain(all[0]);
    expect(await secrets.find(newId())).toBeNull();
  });

  it('is readable for 24 hours and is then deleted', async () => {
    const id = newId();
    await secrets.obtain(id, () => 'first');
    await age(id, '23 hours 59 minutes');
    await secrets.forget();
    expect(await secrets.find(id)).toBe('first');
    await age(id, '24 hours');
    expect(await secrets.find(id)).toBeNull();
    expect(await secrets.obtain(id, () => 'second')).toBeNull();
    await secrets.forget();
    expect(await stored(id)).toBeUndefined();
  });

  it('is unreadable once its master key was retired', async () => {
    const id = newId();
    await new NewSecrets(test.database, new Sealer(randomBytes(32))).obtain(id, () => 'secret');
    expect(await secrets.find(id)).toBeNull();
  });
});
