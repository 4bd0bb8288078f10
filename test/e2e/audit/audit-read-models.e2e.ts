import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/kernel/ids.js';
import { AuthenticEventStore } from '../../../src/platform/event-store/authentic-event-store.js';
import { PostgresEventStore } from '../../../src/platform/event-store/postgres/postgres-event-store.js';
import { ringOf } from '../../support/key-ring.js';
import { invoke, type Run } from '../../support/programs/operator.js';
import { testDatabase, type TestDatabase } from '../../support/postgres.js';
import { VIEWS } from '../../support/event-store/read-models.js';

const MASTER_KEY = '11'.repeat(32);

interface Report extends Run {
  readonly differences: readonly string[];
}

describe('npm run audit -- verify, of every read model', () => {
  let db: TestDatabase;
  const tables = VIEWS.flatMap((view) => view.tables);
  const verify = async (): Promise<Report> => {
    const run = await invoke('audit', { DATABASE_URL: db.url }, '--json', 'verify');
    return { ...(JSON.parse(run.printed) as Report), ...run };
  };

  beforeAll(async () => {
    db = await testDatabase();
    const sealer = await ringOf(db.url, Buffer.from(MASTER_KEY, 'hex'));
    const store = new AuthenticEventStore(new PostgresEventStore(db.pool), sealer);
    for (const { facts } of VIEWS) {
      const events = facts().map(([type, data]) => ({ id: newId(), type, data, metadata: {} }));
      await store.commit({ appends: [{ stream: `thing-${newId()}`, events, expected: 'no_stream' }] });
    }
    await store.close();
    await invoke('rebuild', { DATABASE_URL: db.url, MASTER_KEY });
  });
  afterAll(() => db.drop());

  it.each(tables)('names a row of %s that was deleted', async (table) => {
    const of = ({ differences }: Report): string[] =>
      differences.filter((each) => each.startsWith(`${table} `));
    expect(of(await verify())).toEqual([]);
    await db.pool.query(
      `create table kept as select * from ${table} limit 1; delete from ${table} where ctid = (select min(ctid) from ${table})`,
    );
    const gone = await verify();
    expect(gone.exitCode).toBe(2);
    expect(of(gone)).toEqual([expect.stringMatching(/: no row, the events say that there is one$/)]);
    await db.pool.query(`insert into ${table} select * from kept; drop table kept`);
    expect(of(await verify())).toEqual([]);
  });

  it('leaves nothing in the database', async () => {
    await verify();
    const { rows } = await db.pool.query(`select nspname from pg_namespace where nspname like 'checked%'`);
    expect(rows).toEqual([]);
  });
});
