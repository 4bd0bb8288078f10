import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { onTestDatabase } from '../../../test/support/postgres.js';
import { eventually, WAIT_MS } from '../../../test/support/eventually.js';
import { MIGRATIONS } from '../../composition.js';
import { migrate } from './migrate.js';

class Spec2764000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table users.users add column spec text');
  }
  async down(): Promise<void> {}
}

class Spec2764000000001 implements MigrationInterface {
  readonly transaction = false;
  async up(runner: QueryRunner): Promise<void> {
    // Two processes that boot concurrently would both do this.
    await runner.query('select pg_sleep(0.5)');
    // The order is that of docs/migrations.md.
    await runner.query('set lock_timeout = 0');
    await runner.query('drop index concurrently if exists users.users_spec');
    await runner.query('create index concurrently users_spec on users.users (wallet)');
    await runner.query('reset lock_timeout');
  }
  async down(): Promise<void> {}
}

describe('migrations', () => {
  let other: pg.Client;
  let reader: pg.Client;

  afterAll(() => Promise.all([other.end(), reader.end()]));
  const db = onTestDatabase();

  beforeAll(async () => {
    other = new pg.Client({ connectionString: db.url });
    reader = new pg.Client({ connectionString: db.url, statement_timeout: WAIT_MS });
    await Promise.all([other.connect(), reader.connect()]);
  });

  it('wait for readers of a locked table and succeed once it is free', async () => {
    await other.query('begin; lock table users.users in access share mode');
    let done = false;
    const migrating = migrate(db.url, [...MIGRATIONS, Spec2764000000000]).then(() => (done = true));
    const waiting = `select from pg_locks where relation = 'users.users'::regclass and not granted`;
    await eventually(async () => (await db.pool.query(waiting)).rowCount);
    await reader.query('select count(*) from users.users');
    expect(done).toBe(false);
    await other.query('commit');
    await migrating;
    await reader.query('select spec from users.users');
  });

  it('create an index concurrently while another process waits for the lock, even after a failed try', async () => {
    await db.pool.query('create index users_spec on users.users (user_id)');
    await db.pool.query(
      `update pg_index set indisvalid = false where indexrelid = 'users.users_spec'::regclass`,
    );
    const all = [...MIGRATIONS, Spec2764000000000, Spec2764000000001];
    await Promise.all([migrate(db.url, all), migrate(db.url, all)]);
    const { rows } = await db.pool.query(
      `select pg_get_indexdef(indexrelid) as definition, indisvalid as valid from pg_index
       where indexrelid = 'users.users_spec'::regclass`,
    );
    expect(rows).toEqual([
      { definition: 'CREATE INDEX users_spec ON users.users USING btree (wallet)', valid: true },
    ]);
  });

  it('refuse a database with an unknown migration, name that migration, and change nothing', async () => {
    const table = () => db.pool.query('select * from disburse_migrations order by id');
    const before = await table();
    await expect(migrate(db.url, [...MIGRATIONS, Spec2764000000001])).rejects.toThrow(
      'does not have the schema of this version: it has the migration Spec2764000000000, which this version does not',
    );
    expect((await table()).rows).toEqual(before.rows);
  });

  it('accept the migrations of a later version, so that a process of this version can start', async () => {
    await expect(migrate(db.url, MIGRATIONS)).resolves.toBeUndefined();
  });
});
