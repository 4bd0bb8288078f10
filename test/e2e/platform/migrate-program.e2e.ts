import { describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { MIGRATIONS } from '../../../src/composition.js';
import { ConfigError } from '../../../src/platform/config/settings.js';
import { Unreachable } from '../../../src/platform/postgres/unavailable.js';
import { invoke } from '../../support/programs/cli.js';
import { onTestDatabase } from '../../support/postgres.js';

/** What a Deployment of Kubernetes has, so that a Job gets the same settings. */
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

  it('migrates an empty database, once when several run at the same time, and nothing when it runs again', async () => {
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

  it('says that a database cannot be reached', async () => {
    await expect(migrate('postgres://127.0.0.1:1/none')).rejects.toThrow(Unreachable);
  });

  it('needs the settings of production', async () => {
    await expect(invoke('migrate', { ...PRODUCTION, DATABASE_URL: '' })).rejects.toThrow(ConfigError);
  });
});
