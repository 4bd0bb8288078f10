import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { testDatabase, type TestDatabase } from '../../../test/support/postgres.js';
import { isDatabaseUnavailable } from './unavailable.js';
import { runWithBytes } from './bytes-statement.js';

let db: TestDatabase;

beforeAll(async () => {
  db = await testDatabase({ poolSize: 3 });
});

afterAll(() => db.drop());

beforeEach(async () => {
  await db.database.query('drop table if exists blobs');
  await db.database.query(
    'create table blobs (name text primary key, size int not null, bytes bytea not null)',
  );
});

const INSERT = { name: 'blobs', text: 'insert into blobs (name, size, bytes) values ($1, $2::int, $3)' };

function insert(name: string, bytes: Buffer, size = String(bytes.length)): Promise<void> {
  return runWithBytes(db.pool, INSERT, [name, size], bytes);
}

it('hands bytes over as they are, of any size, on every connection', async () => {
  const blobs = [0, 1, 4, 65_536, 1_048_575, 3_000_000].map((size) => randomBytes(size));
  const named = [...blobs, ...blobs, ...blobs].map((bytes, i) => ({ name: `näme ${i}`, bytes }));
  await Promise.all(named.map(({ name, bytes }) => insert(name, bytes)));
  const rows = await db.database.query<{ name: string; size: number; bytes: Buffer }>('select * from blobs');
  expect(rows).toHaveLength(named.length);
  for (const { name, bytes } of named) {
    const row = rows.find((each) => each.name === name)!;
    expect(row.size).toBe(bytes.length);
    expect(row.bytes.equals(bytes)).toBe(true);
  }
});

it('rejects with what the server says, and its connection goes on', async () => {
  const bytes = randomBytes(200_000);
  await insert('a', bytes);
  for (let i = 0; i < 6; i += 1) {
    await expect(insert('a', bytes)).rejects.toMatchObject({ code: '23505' });
    await expect(insert('b', bytes, 'no number')).rejects.toMatchObject({ code: '22P02' });
  }
  await Promise.all(['c', 'd', 'e', 'f'].map((name) => insert(name, bytes)));
  await db.database.query('drop table blobs');
  await expect(insert('g', bytes)).rejects.toMatchObject({ code: '42P01' });
  expect(await db.database.query('select 1 as one')).toEqual([{ one: 1 }]);
});

it('is as lost as any other when its connection is', async () => {
  const lost = await db.database.transaction(async (tx) => {
    await tx.query('lock table blobs');
    const outcome = insert('a', randomBytes(100_000)).catch((error: Error) => error);
    const waiting = `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like 'insert into blobs%'`;
    while ((await tx.query(waiting)).rowCount === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    return outcome;
  });
  expect(isDatabaseUnavailable(lost)).toBe(true);
  await insert('b', randomBytes(10));
});
