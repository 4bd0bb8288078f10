import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ready, type Child } from '../../../bench/support/children.js';
import { eventually } from '../../../bench/support/wait.js';
import { freePort } from '../../../sandbox/processes.js';
import { makeNextVersion } from '../support/next-version.js';
import { activePayee, Treasury } from '../support/payees.js';
import { ReportLoad } from '../support/report-load.js';
import { Sandbox } from '../support/sandbox.js';
import { seconds, type Suite, type SuiteOptions } from '../support/suite.js';

const CLIENTS = 4;
const PAUSE_MS = 150;
const NEWER = 'payout.reported.v2';
/** The build of this version. */
const DIST = fileURLToPath(new URL('../../../dist', import.meta.url));
const SETTLE_MS = 180_000;

/**
 * This version and the next one, which stores a new version of an event, on one database under load. In each round the
 * order is the wrong one at first: the next version takes reports, and no worker knows what it stores. Then its worker
 * comes, both versions go on side by side, and its worker leaves again.
 */
export const twoVersions: Suite = async (options) => {
  const { count, verdict, say } = options;
  const sandbox = await Sandbox.create({
    PAYOUT_VERIFICATION_WINDOW_SECONDS: '10',
    PAYOUT_CHECK_INTERVAL_MS: '200',
  });
  const loads: ReportLoad[] = [];
  try {
    sandbox.spawn();
    await sandbox.ready();
    const dist = makeNextVersion(join(sandbox.dir, 'next'));
    const { merchant, baseUrl, port } = sandbox;
    const payees = await Promise.all([1, 2, 3].map(() => activePayee(baseUrl, merchant)));
    const { rpc_url: rpcUrl, usdc_address: usdcAddress } = sandbox.file.chain;
    const treasury = await Treasury.of({ rpcUrl, usdcAddress });
    const older = new ReportLoad({ port, merchant, payees, treasury }, verdict, PAUSE_MS);
    loads.push(older);
    older.start(CLIENTS);
    const api = await start(sandbox, dist, 'next-api', 'api');
    const newer = new ReportLoad({ port: api.port, merchant, payees, treasury }, verdict, PAUSE_MS);
    loads.push(newer);
    newer.start(CLIENTS);
    for (let round = 1; round <= count; round += 1) {
      await eventually('the older version waits', async () => (await detail(baseUrl)).includes(NEWER));
      const early = audit(sandbox, DIST);
      verdict.equal(early, 1, `round ${round}: the older audit sees types that it does not know`);
      const began = performance.now();
      const worker = await start(sandbox, dist, 'next-worker', 'worker');
      const { rows } = await sandbox.pool.query<{ head: string }>(
        'select max(position) as head from event_store.events',
      );
      await eventually('the subscriptions go on', () => passed(sandbox, rows[0]!.head));
      const took = seconds(performance.now() - began);
      await sleep(4000);
      if (round < count) await worker.child.stop();
      say(
        `${String(round).padStart(3)}  the older version waited, the next one's worker went on in ${took}; acknowledged ${older.acknowledged.length} and ${newer.acknowledged.length}`,
      );
    }
    await Promise.all(loads.map((load) => load.stop()));
    await checkEnd(sandbox, dist, loads, options);
  } finally {
    await Promise.all(loads.map((load) => load.abandon()));
    await sandbox.remove();
  }
};

async function checkEnd(
  sandbox: Sandbox,
  dist: string,
  [older, newer]: readonly ReportLoad[],
  { verdict, say }: SuiteOptions,
): Promise<void> {
  const settled = async (): Promise<boolean> => {
    const { rows } = await sandbox.pool.query('select from payouts.payouts where status = 0 limit 1');
    return rows.length === 0;
  };
  await eventually('every payout has its outcome', settled, SETTLE_MS).catch((error: Error) =>
    verdict.expect(false, error.message),
  );
  const acknowledged = [...older!.acknowledged, ...newer!.acknowledged].map(({ payoutId }) => payoutId);
  verdict.expect(newer!.acknowledged.length > 0, 'the next version acknowledged reports');
  const { rows } = await sandbox.pool.query<{ id: string; stored: string }>(
    `select view.id, count(event.id) as stored from payouts.payouts view
     left join event_store.events event on event.stream = 'payout-' || view.id and event.type like 'payout.reported.v_'
     group by view.id`,
  );
  verdict.equal(new Set(acknowledged).size, acknowledged.length, 'distinct payouts');
  verdict.equal(rows.length, acknowledged.length, 'payouts shown, one per acknowledged report');
  verdict.none(
    rows.filter(({ stored }) => Number(stored) !== 1),
    'a payout is reported other than once',
  );
  const shown = new Set(rows.map(({ id }) => id));
  verdict.none(
    acknowledged.filter((id) => !shown.has(id)),
    'an acknowledged payout is not shown',
  );
  const exitCode = audit(sandbox, dist);
  verdict.expect(exitCode === 0 || exitCode === 1, "the next version's audit finds nothing wrong", exitCode);
  say(
    `end  ${older!.acknowledged.length} and ${newer!.acknowledged.length} reports acknowledged; tries ${older!.tally.toString()}; ${newer!.tally.toString()}`,
  );
}

async function start(
  sandbox: Sandbox,
  dist: string,
  name: string,
  roles: string,
): Promise<{ readonly child: Child; readonly port: number }> {
  const secrets = JSON.parse(readFileSync(join(sandbox.dir, 'secrets.json'), 'utf8')) as {
    master_key: string;
  };
  const { rpc_url: rpcUrl, usdc_address: usdcAddress } = sandbox.file.chain;
  const [port, metricsPort] = [await freePort(), await freePort()];
  const dir = join(sandbox.dir, name);
  const child = sandbox.children.start({
    name,
    args: [join(dist, 'src', 'main.js')],
    dir,
    env: {
      MODE: 'sandbox',
      ROLES: roles,
      DATA_DIR: dir,
      DATABASE_URL: sandbox.databaseUrl,
      MASTER_KEY: secrets.master_key,
      CHAIN_RPC_URL: rpcUrl,
      USDC_ADDRESS: usdcAddress,
      PORT: String(port),
      WIDGET_PORT: '0',
      PAY_PORT: '0',
      METRICS_PORT: String(metricsPort),
      RATE_LIMIT_PER_MINUTE: '10000000',
      RATE_LIMIT_PER_IP_PER_MINUTE: '100000000',
      LOG_FILE: `${dir}.json.log`,
      ...sandbox.settings,
    },
  });
  await ready(
    child,
    roles === 'api' ? `http://127.0.0.1:${port}/health/live` : `http://127.0.0.1:${metricsPort}/metrics`,
  );
  return { child, port };
}

/** What readiness says of the subscriptions. */
async function detail(baseUrl: string): Promise<string> {
  const response = await fetch(`${baseUrl}/health/ready`);
  const { checks } = (await response.json()) as { checks: Record<string, { detail?: string }> };
  return checks['subscriptions']?.detail ?? '';
}

async function passed({ pool }: Sandbox, head: string): Promise<boolean> {
  const { rows } = await pool.query(
    'select from event_store.checkpoints where position is null or position::bigint < $1',
    [head],
  );
  return rows.length === 0;
}

/** The exit code of a version's `audit verify`. */
function audit(sandbox: Sandbox, dist: string): number | null {
  return spawnSync(process.execPath, [join(dist, 'src', 'cli.js'), 'audit', 'verify'], {
    env: { PATH: process.env['PATH'] ?? '', DATABASE_URL: sandbox.databaseUrl },
    timeout: 120_000,
  }).status;
}
