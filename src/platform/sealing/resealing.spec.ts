import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.js';
import { onTestDatabase } from '../../../test/support/postgres.js';
import { newId } from '../../kernel/ids.js';
import type { KeyRing } from './key-ring.js';
import { PersonalKeys } from './personal-keys.js';
import { Resealing } from './resealing.js';
import { Sealer } from './sealer.js';

describe('personal keys after a new key was added to the ring', () => {
  const db = onTestDatabase();
  const former = randomBytes(32);

  /** A ring whose new key has been sealing for an hour. */
  const rotated = async (): Promise<{
    sealer: Sealer;
    reseal: (signal?: AbortSignal) => Promise<unknown>;
  }> => {
    const sealer = new Sealer(randomBytes(32), [former]);
    await db.database.query(
      `insert into platform.key_ring (key_id, master_id, wrapped_key, seals_from)
       values ($1, 'master', 'wrapped', now() - interval '1 hour')`,
      [sealer.sealsWith],
    );
    const resealing = new Resealing(db.database, { sealer } as KeyRing);
    return { sealer, reseal: (signal = new AbortController().signal) => resealing.run(signal) };
  };
  const wrappedOf = async (subject: string): Promise<string | null> => {
    const [row] = await db.database.query<{ wrapped_key: string | null }>(
      'select wrapped_key from platform.personal_keys where subject = $1',
      [subject],
    );
    return row!.wrapped_key;
  };
  const waiting = async (): Promise<boolean> =>
    (
      await db.database.query(
        `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
    ).length > 0;

  it('are wrapped by the new key in the next run if the process stops during the first run', async () => {
    const subject = newId();
    await new PersonalKeys(db.database, new Sealer(former)).obtain(subject);
    const { sealer, reseal } = await rotated();
    await reseal(AbortSignal.abort());
    expect((await wrappedOf(subject))!.split('.')[1]).not.toBe(sealer.sealsWith);
    await reseal();
    expect((await wrappedOf(subject))!.split('.')[1]).toBe(sealer.sealsWith);
  });

  it('stay erased for a person who is erased between the read and the write', async () => {
    const [subject, other] = [newId(), newId()];
    const keys = new PersonalKeys(db.database, new Sealer(former));
    await keys.obtain(subject);
    await keys.obtain(other);
    const { sealer, reseal } = await rotated();
    let resealed: Promise<unknown> = Promise.resolve();
    await db.database.transaction(async (tx) => {
      await tx.query(
        'update platform.personal_keys set wrapped_key = null, forgotten_at = now() where subject = $1',
        [subject],
      );
      resealed = reseal();
      // The transaction has read the committed key, and waits for the row.
      await eventually(waiting);
    });
    await resealed;
    expect(await wrappedOf(subject)).toBeNull();
    expect((await wrappedOf(other))!.split('.')[1]).toBe(sealer.sealsWith);
    expect((await new PersonalKeys(db.database, sealer).find([subject])).size).toBe(0);
  });

  it('stay unchanged if no key of the ring opens them', async () => {
    const subject = newId();
    await new PersonalKeys(db.database, new Sealer(randomBytes(32))).obtain(subject);
    const before = await wrappedOf(subject);
    const { reseal } = await rotated();
    await reseal();
    expect(await wrappedOf(subject)).toBe(before);
  });
});
