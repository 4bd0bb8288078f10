import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { CuttableRoad } from '../../../test/support/cuttable-road.js';
import { testDatabase, type TestDatabase } from '../../../test/support/postgres.js';
import { isDatabaseUnavailable } from './unavailable.js';
import { Database } from './database.js';

const PATIENCE_MS = 300;

describe('the database when it takes connections and never responds', () => {
  let test: TestDatabase;
  let road: CuttableRoad;
  let database: Database;

  beforeAll(async () => {
    test = await testDatabase();
  });
  beforeEach(async () => {
    road = new CuttableRoad(new URL(test.url));
    database = await Database.connect({ url: await road.open(), poolSize: 2, patienceMs: PATIENCE_MS });
  });
  afterEach(async () => {
    road.silent = false;
    await database.close();
    await road.close();
  });
  afterAll(() => test.drop());

  it('counts as unavailable after a while, and works again when it responds', async () => {
    road.silent = true;
    const failure: unknown = await database.query('select 1').catch((error: unknown) => error);
    expect(isDatabaseUnavailable(failure)).toBe(true);
    road.silent = false;
    expect(await database.query('select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('counts as unavailable for a row in binary too', async () => {
    road.silent = true;
    const failure: unknown = await database
      .binaryRow('select 1', [], () => 1)
      .catch((error: unknown) => error);
    expect(isDatabaseUnavailable(failure)).toBe(true);
    road.silent = false;
    expect(await database.binaryRow('select 1', [], ([one]) => one?.readInt32BE())).toBe(1);
  });
});

describe('a row in binary', () => {
  let test: TestDatabase;

  beforeAll(async () => {
    test = await testDatabase();
  });
  afterAll(() => test.drop());

  const texts = (sql: string, params: readonly string[] = []): Promise<readonly (string | null)[]> =>
    test.database.binaryRow(sql, params, (fields) => fields.map((field) => field?.toString() ?? null));

  it('has the bytes of large texts, empty ones and nulls', async () => {
    const large = `select repeat('\u20ac"\\', 200000), '', null::text`;
    expect(await texts(large)).toEqual(['\u20ac"\\'.repeat(200_000), '', null]);
  });

  it('takes any parameters as they are', async () => {
    const values = [`'; drop schema payouts; --`, `\\' $1 $2`, '$2'];
    expect(await texts('select $1::text, $2::text, $3::text', values)).toEqual(values);
  });

  it('rejects for a statement that fails, that gives no row, or whose row cannot be read, and goes on', async () => {
    await expect(texts('select 1 / 0')).rejects.toMatchObject({ code: '22012' });
    await expect(texts('select 1 where false')).rejects.toThrow('gave none');
    const unread = test.database.binaryRow('select 1', [], () => {
      throw new Error('unread');
    });
    await expect(unread).rejects.toThrow('unread');
    expect(await texts(`select 'on'::text`)).toEqual(['on']);
  });
});
