import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { CuttableRoad } from '../../../test/support/cuttable-road.js';
import { testDatabase, type TestDatabase } from '../../../test/support/postgres.js';
import { isDatabaseAway } from '../../event-store/postgres/unavailable.js';
import { Database } from './database.js';

const PATIENCE_MS = 300;

describe('the database when it takes connections and answers nothing', () => {
  let test: TestDatabase;
  let road: CuttableRoad;
  let database: Database;

  beforeAll(async () => {
    test = await testDatabase();
  });
  beforeEach(async () => {
    road = new CuttableRoad(new URL(test.url));
    database = await Database.connect({
      ...{ url: await road.open(), poolSize: 2, migrate: false, patienceMs: PATIENCE_MS },
    });
  });
  afterEach(async () => {
    road.silent = false;
    await database.close();
    await road.close();
  });
  afterAll(() => test.drop());

  it('counts as away after a while, and works again when it answers', async () => {
    road.silent = true;
    const failure: unknown = await database.query('select 1').catch((error: unknown) => error);
    expect(isDatabaseAway(failure)).toBe(true);
    road.silent = false;
    expect(await database.query('select 1 as one')).toEqual([{ one: 1 }]);
  });
});
