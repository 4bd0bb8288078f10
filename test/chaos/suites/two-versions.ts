import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { count } from '../../../bench/support/count.js';
import { eventually } from '../../../bench/support/wait.js';
import { AdminClient } from '../../support/admin/admin-client.js';
import { checkReported } from '../support/acknowledged.js';
import { haveReached, headOf } from '../support/books.js';
import { buildNextVersion } from '../support/next-version.js';
import { createPayee } from '../../support/payouts/payout-calls.js';
import { ReportLoad } from '../support/report-load.js';
import type { ServiceProcess } from '../../../bench/support/service.js';
import { Shared } from '../support/shared.js';
import { seconds, type Suite, type SuiteOptions } from '../support/suite.js';

const CLIENTS = 4;
const PAUSE_MS = 150;
const NEWER = 'payout.reported.v2';
const DIST = fileURLToPath(new URL('../../../dist', import.meta.url));
const SETTLE_MS = 180_000;

/**
 * This version and the next one, which stores a new version of an event, share a database under load. In each
 * round the next version first accepts reports before any worker can read them, which is the wrong order.
 * Then its worker starts, both versions run at once, and its worker ends again.
 */
export const twoVersions: Suite = async (options) => {
  const { count, verdict, say } = options;
  await Shared.run(async (shared) => {
    const env = { PAYOUT_VERIFICATION_WINDOW_SECONDS: '10', PAYOUT_CHECK_INTERVAL_MS: '200' };
    const service = await shared.service('service', env);
    const dist = buildNextVersion(shared.environment.folder('next'));
    const main = join(dist, 'sandbox', 'main.js');
    const { merchant, client } = service;
    const payees = await Promise.all([1, 2, 3].map(() => createPayee(client)));
    const treasury = await shared.treasury();
    const load = (port: number): ReportLoad => {
      const started = new ReportLoad({ port, merchant, payees, treasury }, verdict, PAUSE_MS);
      shared.ends.add(() => started.abandon());
      started.start(CLIENTS);
      return started;
    };
    const older = load(service.port);
    const api = await shared.process('next-api', { ...env, ROLES: 'api,admin' }, { main }).start();
    await decideAcross(service, api, options);
    const newer = load(api.port);
    const worker = shared.process('next-worker', { ...env, ROLES: 'worker' }, { main });
    for (let round = 1; round <= count; round += 1) {
      await eventually('the older version waits', async () => (await service.health()).text.includes(NEWER));
      verdict.equal(
        audit(shared, DIST),
        1,
        `round ${round}: the older audit finds types that it does not know`,
      );
      const began = performance.now();
      await worker.start();
      const head = await headOf(shared.pool);
      await eventually('the subscriptions continue', () => haveReached(shared.pool, head));
      const tookMs = performance.now() - began;
      await sleep(4000);
      if (round < count) await worker.stop();
      say(
        `${String(round).padStart(3)}  the next version's worker continued in ${seconds(tookMs)}; acknowledged ${older.acknowledged.length} and ${newer.acknowledged.length}`,
      );
    }
    await Promise.all([older.stop(), newer.stop()]);
    await checkEnd(shared, dist, [older, newer], options);
  });
};

/** An operation requested at one version is approved at the other and executed once. */
async function decideAcross(
  { admin, adminUrl, merchant }: ServiceProcess,
  { adminUrl: nextUrl }: ServiceProcess,
  { verdict }: SuiteOptions,
): Promise<void> {
  const reason = 'two versions';
  const path = `/merchants/${merchant.apiKey}`;
  let limit = 900_000;
  const lower = { limits: { requests_per_minute: limit }, reason };
  const lowered = await new AdminClient(adminUrl, admin.api_key, '').change(path, '', lower);
  verdict.equal(lowered.status, 200, 'a limit is lowered');
  for (const [requested, decided] of [
    [adminUrl, nextUrl],
    [nextUrl, adminUrl],
  ] as const) {
    const change = { limits: { requests_per_minute: (limit += 1) }, reason };
    const requester = new AdminClient(requested, admin.api_key, '');
    const waiting = await requester.change(path, '', change);
    verdict.equal(waiting.status, 202, 'an operation is requested of one version');
    const { operation } = waiting.json<{ operation: { id: string } }>();
    const approver = new AdminClient(decided, admin.approver_api_key, '');
    const approved = await approver.post(`/operations/${operation.id}/approve`, { reason });
    verdict.expect(
      approved.status === 200 && approved.text.includes('"executed"'),
      'it is approved at the other, which executes it',
      approved.text,
    );
  }
}

async function checkEnd(
  shared: Shared,
  dist: string,
  [older, newer]: readonly [ReportLoad, ReportLoad],
  { verdict, say }: SuiteOptions,
): Promise<void> {
  const settled = async (): Promise<boolean> =>
    (await count(shared.pool, 'payouts.payouts where status = 0')) === 0;
  await verdict.eventually('every payout has its outcome', settled, SETTLE_MS);
  verdict.expect(newer.acknowledged.length > 0, 'the next version acknowledged reports');
  await checkReported(shared.pool, [...older.acknowledged, ...newer.acknowledged], verdict);
  const exitCode = audit(shared, dist);
  verdict.expect(exitCode === 0 || exitCode === 1, "the next version's audit finds nothing wrong", exitCode);
  say(`end  attempts ${older.tally.toString()}; ${newer.tally.toString()}`);
}

function audit({ databaseUrl }: Shared, dist: string): number | null {
  return spawnSync(process.execPath, [join(dist, 'sandbox', 'cli.js'), 'audit', 'verify'], {
    env: { PATH: process.env['PATH'] ?? '', DATABASE_URL: databaseUrl },
    timeout: 120_000,
  }).status;
}
