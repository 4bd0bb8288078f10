import { describe, expect, it } from '@jest/globals';
import { ConfigError } from '../../../src/platform/config/settings.js';
import { invoke } from '../../support/programs/cli.js';
import { onTestDatabase } from '../../support/postgres.js';

describe.each<[string, string, readonly string[]]>([
  ['audit verify', 'audit', ['verify']],
  ['audit heads', 'audit', ['heads']],
])('npm run %s', (_, program, args) => {
  const db = onTestDatabase();
  const run = (): Promise<unknown> => invoke(program, { DATABASE_URL: db.url }, ...args);

  it('refuses an event store that the database does not belong to', async () => {
    await db.database.query(`insert into event_store.followed_log (log_id) values (gen_random_uuid())`);
    await expect(run()).rejects.toThrow(ConfigError);
    await expect(run()).rejects.toThrow('The event store is not the one that this database belongs to');
  });

  it('says so when the database is not migrated', async () => {
    await db.database.query('drop schema event_store cascade');
    await expect(run()).rejects.toThrow(ConfigError);
    await expect(run()).rejects.toThrow('The database of DATABASE_URL is not migrated to this version');
  });
});
