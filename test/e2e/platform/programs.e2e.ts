import { expect, it, describe } from '@jest/globals';
import pg from 'pg';
import { invoke } from '../../support/programs/cli.js';
import { dropTestDatabase, testDatabaseUrl, onTestDatabase } from '../../support/postgres.js';
import { VIEWS } from '../../support/event-store/read-models.js';
import { MIGRATIONS } from '../../../src/composition.js';
import { ConfigError } from '../../../src/platform/config/settings.js';
import { Unreachable } from '../../../src/platform/postgres/unavailable.js';

it('npm run rebuild rebuilds all read models, or only the one that is named', async () => {
  const url = await testDatabaseUrl();
  try {
    const env = { DATABASE_URL: url, MASTER_KEY: '11'.repeat(32) };
    const { printed } = await invoke('rebuild', env);
    const rebuilt = printed
      .trimEnd()
      .split('\n')
      .map((line) => line.slice(0, line.indexOf(':')));
    expect(rebuilt.sort()).toEqual(VIEWS.map(({ definition }) => definition.name).sort());
    const json = await invoke('rebuild', env, '--json', 'users.views');
    expect(JSON.parse(json.printed)).toMatchObject({ name: 'users.views', events: 0 });
    await expect(invoke('rebuild', env, 'users.view')).rejects.toThrow(
      'No read model users.view. There are: ',
    );
  } finally {
    await dropTestDatabase(url);
  }
});

/** The settings of a Deployment, which a Job has too. */
const PRODUCTION = {
  MODE: 'production',
  MASTER_KEY: '11'.repeat(32),
  PUBLIC_URL: 'https://api.example',
  CHAIN_RPC_URL: 'https://chain.example',
  USDC_ADDRESS: `0x${'22'.repeat(20)}`,
};

describe('npm run migrate', () => {
  const db = onTestDatabase();
  const migrate = (url: string, ...args: string[]): ReturnType<typeof invoke> =>
    invoke('migrate', { ...PRODUCTION, DATABASE_URL: url }, ...args);
  const migrated = `select name from disburse_migrations order by name`;

  it('migrates an empty database once, however many processes try, and changes nothing when repeated', async () => {
    const name = `${new URL(db.url).pathname.slice(1)}_empty`;
    await db.pool.query(`create database ${name}`);
    const url = Object.assign(new URL(db.url), { pathname: name }).href;
    const client = new pg.Client(url);
    try {
      const [first] = await Promise.all([migrate(url), migrate(url), migrate(url)]);
      expect(first).toEqual({ printed: 'The database has the schema of this version.\n', exitCode: null });
      await client.connect();
      const { rows } = await client.query<{ name: string }>(migrated);
      expect(rows.map((row) => row.name)).toEqual(MIGRATIONS.map((each) => each.name).sort());
      expect(JSON.parse((await migrate(url, '--json')).printed)).toEqual({ migrated: true });
      expect((await client.query(migrated)).rows).toEqual(rows);
    } finally {
      await client.end();
      await db.pool.query(`drop database ${name}`);
    }
  });

  it('refuses a database that another build migrated', async () => {
    await db.pool.query(
      `insert into disburse_migrations (timestamp, name) values (1794000000000, 'Removed1794000000000')`,
    );
    await expect(migrate(db.url)).rejects.toThrow(ConfigError);
    await expect(migrate(db.url)).rejects.toThrow('it has the migration Removed1794000000000');
  });

  it('reports an unreachable database', async () => {
    await expect(migrate('postgres://127.0.0.1:1/none')).rejects.toThrow(Unreachable);
  });

  it('refuses to run in production without DATABASE_URL', async () => {
    await expect(invoke('migrate', { ...PRODUCTION, DATABASE_URL: '' })).rejects.toThrow(ConfigError);
  });
});

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

  it('reports a database that is not migrated', async () => {
    await db.database.query('drop schema event_store cascade');
    await expect(run()).rejects.toThrow(ConfigError);
    await expect(run()).rejects.toThrow('The database of DATABASE_URL is not migrated to this version');
  });
});
