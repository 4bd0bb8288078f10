import { expect, it } from '@jest/globals';
import pg from 'pg';
import { invoke } from '../../support/programs/cli.js';
import { dropTestDatabase, testDatabaseUrl } from '../../support/postgres.js';
import { VIEWS } from '../../support/event-store/read-models.js';

it('the program of operators rebuilds all read models, and with --compare-only only compares them', async () => {
  const url = await testDatabaseUrl();
  try {
    const env = { DATABASE_URL: url, MASTER_KEY: '11'.repeat(32) };
    const { printed } = await invoke('rebuild', env);
    const rebuilt = printed
      .trimEnd()
      .split('\n')
      .filter((line) => !line.startsWith(' '))
      .map((line) => line.slice(0, line.indexOf(':')));
    expect(rebuilt.sort()).toEqual(VIEWS.map(({ definition }) => definition.name).sort());
    const compare = () => invoke('rebuild', env, 'users.views', '--compare-only');
    const sound = await compare();
    expect(sound.printed).toContain('users.users: 0 rows, as the events say');
    expect(sound.exitCode).toBeNull();
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(
      `insert into users.users (user_id, merchant_id, state, created_at, changed_at)
       select id, id, 0, now(), now() from gen_random_uuid() id`,
    );
    await client.end();
    const { printed: compared, exitCode } = await compare();
    expect(compared).toContain('users.users: 1 row, 1 was not as the events say');
    expect(compared).toContain('a row, the events say that there is none');
    expect(exitCode).toBe(2);
    const json = await invoke('rebuild', env, '--json', 'users.views');
    expect(JSON.parse(json.printed)).toMatchObject({ name: 'users.views', compared: [{ different: 1 }] });
    expect((await compare()).exitCode).toBeNull();
  } finally {
    await dropTestDatabase(url);
  }
});
