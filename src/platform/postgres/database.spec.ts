import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DisconnectableProxy } from '../../../test/support/database/disconnectable-proxy.js';
import { eventually } from '../../../test/support/eventually.js';
import { testDatabase, type TestDatabase } from '../../../test/support/postgres.js';
import { isDatabaseUnavailable } from './unavailable.js';
import { Database } from './database.js';

const QUERY_TIMEOUT_MS = 300;
const NOTHING = { params: [], tables: [] };

describe('the database when it takes connections and never responds', () => {
  let test: TestDatabase;
  let proxy: DisconnectableProxy;
  let database: Database;

  beforeAll(async () => {
    test = await testDatabase();
  });
  beforeEach(async () => {
    proxy = new DisconnectableProxy(new URL(test.url));
    database = await Database.connect({ url: await proxy.open(), poolSize: 2, timeoutMs: QUERY_TIMEOUT_MS });
  });
  afterEach(async () => {
    proxy.hangs = false;
    await database.close();
    await proxy.close();
  });
  afterAll(() => test.drop());

  it('counts as unavailable after a while, and works again when it responds', async () => {
    proxy.hangs = true;
    const failure: unknown = await database.query('select 1').catch((error: unknown) => error);
    expect(isDatabaseUnavailable(failure)).toBe(true);
    proxy.hangs = false;
    expect(await database.query('select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('counts as unavailable for a row in binary too', async () => {
    proxy.hangs = true;
    const failure: unknown = await database
      .binaryRow('select 1', NOTHING, () => 1)
      .catch((error: unknown) => error);
    expect(isDatabaseUnavailable(failure)).toBe(true);
    proxy.hangs = false;
    expect(await database.binaryRow('select 1', NOTHING, ([one]) => one?.readInt32BE())).toBe(1);
  });
});

describe('a row in binary', () => {
  let test: TestDatabase;

  beforeAll(async () => {
    test = await testDatabase();
  });
  afterAll(() => test.drop());

  const texts = (sql: string, params: readonly string[] = []): Promise<readonly (string | null)[]> =>
    test.database.binaryRow(sql, { params, tables: [] }, (fields) =>
      fields.map((field) => field?.toString() ?? null),
    );

  it('has the bytes of large texts, empty ones and nulls', async () => {
    const large = `select repeat('\u20ac"\\', 200000), '', null::text`;
    expect(await texts(large)).toEqual(['\u20ac"\\'.repeat(200_000), '', null]);
  });

  it('takes any parameters as they are', async () => {
    const values = [`'; drop schema payouts; --`, `\\' $1 $2`, '$2'];
    expect(await texts('select $1::text, $2::text, $3::text', values)).toEqual(values);
  });

  it('rejects for a statement that fails, that gives no row, or whose row cannot be read, and continues', async () => {
    await expect(texts('select 1 / 0')).rejects.toMatchObject({ code: '22012' });
    await expect(texts('select 1 where false')).rejects.toThrow('gave none');
    const unread = test.database.binaryRow('select 1', NOTHING, () => {
      throw new Error('unread');
    });
    await expect(unread).rejects.toThrow('unread');
    expect(await texts(`select 'on'::text`)).toEqual(['on']);
  });

  it('is of the table that a rebuild puts in place while it waits', async () => {
    await test.pool.query(
      `create table swapped (n text); create table shadow (n text); insert into swapped values ('old')`,
    );
    const rebuild = await test.pool.connect();
    await rebuild.query(
      `begin; insert into shadow values ('new'); lock table swapped in access exclusive mode`,
    );
    const read = test.database.binaryRow(
      'select string_agg(n, null) from swapped',
      { params: [], tables: ['swapped'] },
      ([row]) => row?.toString() ?? null,
    );
    const waits = `select from pg_locks where not granted and relation = 'swapped'::regclass`;
    await eventually(async () => (await test.pool.query(waits)).rowCount === 1);
    await rebuild.query('drop table swapped; alter table shadow rename to swapped; commit');
    rebuild.release();
    expect(await read).toBe('new');
  });
});
