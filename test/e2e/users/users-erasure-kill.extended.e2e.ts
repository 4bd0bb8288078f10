import { afterAll, expect, it } from '@jest/globals';
import { startTestApp } from '../../support/app.js';
import { MAIN, runAdmin, runBuilt } from '../../support/erasure/killed.js';
import { deactivate, live } from '../../support/erasure/life.js';
import { dumpOf, openedOf, tracesOf } from '../../support/erasure/traces.js';
import { eventually, WAIT_MS } from '../../support/eventually.js';
import { ERASED_EVENTS_FAILPOINTS, ERASURE_FAILPOINTS } from '../../support/failpoints.js';
import { expectAuditPasses } from '../../support/audit-passes.js';

const [RECORDED, ...OF_THE_WORKER] = ERASURE_FAILPOINTS;
const ERASE = ['--reason', 'request of the person'];

const app = await startTestApp();
const life = await live(app);
await deactivate(app, life.id);
// The workers are separate processes from here on.
await app.stop();
afterAll(async () => {
  await expectAuditPasses(app.config.databaseUrl!);
  await app.close();
});

/** Makes only these items due. The next worker continues at once instead of after the lease of a minute. */
const onlyDue = (part: string): Promise<unknown> =>
  app.database.query(
    `update work.items set due_at = now() + case when kind like $1 then interval '0' else interval '1 hour' end
     where kind like 'users.erasure.%'`,
    [`users.erasure.${part}`],
  );

it(
  'an erasure is completed although its process is killed at each failpoint in succession',
  async () => {
    const admin = await runAdmin(app, { FAILPOINT: RECORDED });
    const refused = await admin.shell.run('admin', 'users', 'erase', life.id, ...ERASE);
    expect([RECORDED, await admin.ended, refused.code]).toEqual([RECORDED, 'SIGKILL', 69]);
    for (const [part, points] of [
      ['users', OF_THE_WORKER],
      ['tracking', ERASED_EVENTS_FAILPOINTS],
    ] as const)
      for (const point of points) {
        await onlyDue(part);
        const worker = runBuilt(app, MAIN, { FAILPOINT: point });
        expect([point, await worker.ended]).toEqual([point, 'SIGKILL']);
      }
    const last = runBuilt(app, MAIN, {});
    await eventually(async () => {
      // Includes items that are retried while others have work of the person.
      await onlyDue('%');
      const sql = `select (select count(*) from event_store.events where type = 'user.erased.v1')::int as erased,
      (select count(*) from platform.personal_keys where wrapped_key is null)::int as forgotten,
      (select count(*) from work.items where kind like 'users.erasure.%')::int as still`;
      const [row] = await app.database.query<{ erased: number; forgotten: number; still: number }>(sql);
      return row!.erased === 1 && row!.forgotten === 1 && row!.still === 0;
    });
    last.child.kill('SIGTERM');
    await last.ended;
    const dump = await dumpOf(app.database);
    const opened = await openedOf(dump, app.database, app.config.masterKey!);
    const { phone, ...rest } = life.person;
    expect(tracesOf([...dump, ...opened], { phone: phone.slice(1), ...rest })).toEqual([]);
  },
  8 * WAIT_MS,
);
