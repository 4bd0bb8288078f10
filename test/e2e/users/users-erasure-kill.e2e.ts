import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ERASED_EVENTS_FAILPOINTS } from '../../../src/contexts/tracking/failpoints.js';
import { ERASURE_FAILPOINTS } from '../../../src/contexts/users/application/erasure.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { CLI, MAIN, runBuilt } from '../../support/erasure/killed.js';
import { deactivate, live, type Life } from '../../support/erasure/life.js';
import { dumpOf, openedOf, tracesOf } from '../../support/erasure/traces.js';
import { eventually, WAIT_MS } from '../../support/eventually.js';
import { expectInOrder } from '../../support/in-order.js';

const POINTS = [...ERASURE_FAILPOINTS, ...ERASED_EVENTS_FAILPOINTS];
const ERASE = ['--reason', 'request of the person', '--actor', 'grace', '--yes'];

let app: TestApp;
const lives: Life[] = [];

beforeAll(async () => {
  app = await startTestApp();
  while (lives.length < POINTS.length) lives.push(await live(app));
  for (const { id } of lives) await deactivate(app, id);
  // From here on the workers are processes of their own.
  await app.stop();
});
afterAll(async () => {
  await expectInOrder(app.config.databaseUrl!);
  await app.close();
});

const run = (program: string, env: NodeJS.ProcessEnv, ...args: string[]) =>
  runBuilt(app, program, env, ...args);

it(
  'an erasure is completed after its process is killed at any failpoint',
  async () => {
    for (const [n, point] of POINTS.entries()) {
      const { id } = lives[n]!;
      if (point === 'erasure.recorded') {
        const killed = run(CLI, { FAILPOINT: point }, 'user', 'erase', id, ...ERASE);
        expect([point, await killed.ended]).toEqual([point, 'SIGKILL']);
        continue;
      }
      expect(await run(CLI, {}, 'user', 'erase', id, ...ERASE).ended).toBe(0);
      const worker = run(MAIN, { FAILPOINT: point });
      expect([point, await worker.ended]).toEqual([point, 'SIGKILL']);
      // The lease of the dead process would last a minute.
      await app.database.query('update work.items set due_at = now()');
    }
    const last = run(MAIN, {});
    await eventually(async () => {
      const sql = `select (select count(*) from event_store.events where type = 'user.erased.v1')::int as erased,
      (select count(*) from platform.personal_keys where wrapped_key is null)::int as forgotten,
      (select count(*) from work.items where kind like 'users.erasure.%')::int as still`;
      const [row] = await app.database.query<{ erased: number; forgotten: number; still: number }>(sql);
      return row!.erased === POINTS.length && row!.forgotten === POINTS.length && row!.still === 0;
      // It boots, takes what the killed ones held once their leases have run out, and erases one after the other.
    }, 8 * WAIT_MS);
    last.child.kill('SIGTERM');
    await last.ended;
    const dump = await dumpOf(app.database);
    const opened = await openedOf(dump, app.database, app.config.masterKey!);
    for (const { person } of lives) {
      const { phone, ...rest } = person;
      expect(tracesOf([...dump, ...opened], { phone: phone.slice(1), ...rest })).toEqual([]);
    }
  },
  16 * WAIT_MS,
);
