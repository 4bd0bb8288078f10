import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DisconnectableProxy } from '../../../test/support/database/disconnectable-proxy.js';
import { onTestDatabase } from '../../../test/support/postgres.js';
import { isDatabaseUnavailable } from './unavailable.js';
import { Database } from './database.js';

const QUERY_TIMEOUT_MS = 300;

describe('the database when it takes connections and never responds', () => {
  const test = onTestDatabase();
  let proxy: DisconnectableProxy;
  let database: Database;

  beforeEach(async () => {
    proxy = new DisconnectableProxy(new URL(test.url));
    database = await Database.connect({ url: await proxy.open(), poolSize: 2, timeoutMs: QUERY_TIMEOUT_MS });
  });
  afterEach(async () => {
    proxy.hangs = false;
    await database.close();
    await proxy.close();
  });

  it('counts as unavailable after a while, and works again when it responds', async () => {
    proxy.hangs = true;
    const failure: unknown = await database.query('select 1').catch((error: unknown) => error);
    expect(isDatabaseUnavailable(failure)).toBe(true);
    proxy.hangs = false;
    expect(await database.query('select 1 as one')).toEqual([{ one: 1 }]);
  });
});
