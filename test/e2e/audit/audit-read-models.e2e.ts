import { describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/kernel/ids.js';
import { AuthenticEventStore } from '../../../src/platform/event-store/authentic-event-store.js';
import { PostgresEventStore } from '../../../src/platform/event-store/postgres/postgres-event-store.js';
import { VIEWS } from '../../support/event-store/read-models.js';
import { ringOf } from '../../support/key-ring.js';
import { testDatabase } from '../../support/postgres.js';
import { invoke } from '../../support/programs/cli.js';

describe('npm run audit -- verify, of every read model', () => {
  it('names a row of each table that was deleted, and leaves nothing in the database', async () => {
    const db = await testDatabase();
    const env = { DATABASE_URL: db.url, MASTER_KEY: '11'.repeat(32) };
    const store = new AuthenticEventStore(
      new PostgresEventStore(db.pool),
      await ringOf(db.url, Buffer.from(env.MASTER_KEY, 'hex')),
    );
    for (const view of VIEWS) {
      const events = view.facts().map(([type, data]) => ({ id: newId(), type, data, metadata: {} }));
      await store.commit({ appends: [{ stream: `thing-${newId()}`, events, expected: 'no_stream' }] });
    }
    await store.close();
    await invoke('rebuild', env);
    const tables = VIEWS.flatMap((view) => view.tables);
    const named = async (): Promise<string[][]> => {
      const { printed } = await invoke('audit', { DATABASE_URL: db.url }, '--json', 'verify');
      const { differences } = JSON.parse(printed) as { readonly differences: readonly string[] };
      return tables.map((table) => differences.filter((each) => each.startsWith(`${table} `)));
    };
    expect(await named()).toEqual(tables.map(() => []));
    for (const table of tables)
      await db.pool.query(`delete from ${table} where ctid = (select min(ctid) from ${table})`);
    expect(await named()).toEqual(
      tables.map(() => [expect.stringMatching(/: no row, the events say that there is one$/)]),
    );
    const { rows } = await db.pool.query(`select from pg_namespace where nspname like 'checked%'`);
    expect(rows).toEqual([]);
    await db.drop();
  });
});
