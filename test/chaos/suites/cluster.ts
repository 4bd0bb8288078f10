import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { serverCommand, stateOf, SupervisedNode, untilLed } from '../../../scripts/lib/eventstore-nodes.mjs';
import { residentMiB } from '../../../bench/support/memory.js';
import { isAlive, until } from '../../../sandbox/processes.js';
import { openEventStoreDb } from '../../../src/platform/event-store/eventstoredb/eventstoredb-event-store.js';
import { invoke } from '../../support/programs/cli.js';
import { canPartition, heal, split } from '../support/partition.js';
import { activePayee } from '../support/payouts.js';
import { ReportLoad } from '../support/report-load.js';
import { secureCluster, type SecureCluster } from '../support/secure-cluster.js';
import type { ServiceProcess } from '../support/service-process.js';
import { Shared } from '../support/shared.js';
import { between, percentile, seconds, type Suite, type SuiteOptions } from '../support/suite.js';
import type { Verdict } from '../support/verdict.js';

const CLIENTS = 8;
const CLIENT_PAUSE_MS = 120;
const RECOVERY_MS = 60_000;
const STANDSTILL_MS = 15_000;
const LEADER_WITHIN_MS = 60_000;
const LOAD_WITHIN_MS = 300_000;
/** Longer than any fault: payouts that exist are received, and all others do not pile up. */
const WINDOW_SECONDS = 90;
/** Fewer faults say nothing of the memory. */
const MEMORY_FROM = 20;
const MAX_GROWTH = 1.1;

interface Fault {
  readonly name: string;
  /** Until a report that was begun after it is acknowledged. */
  readonly withinMs: number;
  strike(leader: SupervisedNode, others: readonly SupervisedNode[], cluster: SecureCluster): Promise<void>;
  /** For a fault that lasts. */
  end?(): void;
}

const FAULTS: readonly Fault[] = [
  { name: 'killed', withinMs: 3000, strike: async ({ pid }) => void process.kill(pid, 'SIGKILL') },
  {
    name: 'stopped',
    withinMs: 8000,
    async strike({ pid }) {
      process.kill(pid, 'SIGSTOP');
      setTimeout(() => isAlive(pid) && process.kill(pid, 'SIGCONT'), STANDSTILL_MS).unref();
    },
  },
  {
    name: 'resigned',
    withinMs: 8000,
    async strike({ node: { name, url, dispatcher } }, _, { authorization }) {
      const options = { method: 'POST', dispatcher, headers: { authorization } } as const;
      const { statusCode } = await request(`${url}/admin/node/resign`, options);
      if (statusCode >= 300) throw new Error(`${name} does not resign: ${statusCode}`);
    },
  },
  {
    name: 'cut off',
    withinMs: 8000,
    async strike({ node }, others) {
      split(
        node,
        others.map((each) => each.node),
      );
    },
    end: heal,
  },
];

/**
 * Three nodes of EventStoreDB with TLS, which the service finds by their common name. Their leader is killed, stopped,
 * resigns and is cut off from the other two under a load of reports, with as many as `--payouts` in all. Writes are accepted
 * again in time, what was acknowledged is in the log once, with an audit in order, and the memory does not grow.
 */
export const cluster: Suite = async (options) => {
  const { verdict, say } = options;
  const shared = await Shared.start();
  const secured = secureCluster(mkdtempSync(join(shared.environment.dir, 'cluster-')));
  const running = secured.nodes.map((node) => new SupervisedNode(node, serverCommand()));
  let load: ReportLoad | null = null;
  try {
    for (const each of running) each.start();
    await untilLed(secured.nodes);
    const env = {
      EVENT_STORE_URL: secured.service.url,
      PAYOUT_VERIFICATION_WINDOW_SECONDS: String(WINDOW_SECONDS),
    };
    const service = await shared.process('service', env, { wrap: secured.service.wrap }).start();
    await service.registered();
    const { merchant, baseUrl, port } = service;
    const payees = [await activePayee(baseUrl, merchant), await activePayee(baseUrl, merchant)];
    load = new ReportLoad(
      { port, merchant, payees, treasury: await shared.treasury() },
      verdict,
      CLIENT_PAUSE_MS,
    );
    load.start(CLIENTS);
    await faultsUnderLoad(secured, running, service, load, options);
    await load.stop();
    say(`load  ${load.acknowledged.length} acknowledged; tries: ${load.tally.toString()}`);
    await checkLog(shared, secured.url, load, options);
    verdict.equal(await service.stop(), 'exit code 0', 'SIGTERM ends it');
  } finally {
    if (canPartition()) heal();
    for (const each of running) each.stop();
    await load?.abandon();
    await shared.close();
  }
};

async function faultsUnderLoad(
  secured: SecureCluster,
  running: readonly SupervisedNode[],
  service: ServiceProcess,
  load: ReportLoad,
  { count, verdict, say, sizes = {} }: SuiteOptions,
): Promise<void> {
  const { nodes } = secured;
  const faults = canPartition() ? FAULTS : FAULTS.filter(({ end }) => end === undefined);
  if (faults.length < FAULTS.length)
    say('no split networks and no discovery by name: they need root and nft');
  const times = new Map(faults.map((fault) => [fault, [] as number[]]));
  const memory: number[] = [];
  for (let n = 0; n < count; n += 1) {
    await sleep(between(1000, 4000));
    const due = ((sizes.payouts ?? 0) * n) / count;
    await until(() => load.acknowledged.length >= due, LOAD_WITHIN_MS);
    const fault = faults[n % faults.length]!;
    const leader = await untilLed(nodes);
    await fault.strike(
      running.find(({ node }) => node === leader)!,
      running.filter(({ node }) => node !== leader),
      secured,
    );
    const began = performance.now();
    const accepts = await until(() => load.acknowledgedBegunAfter(began), RECOVERY_MS);
    const took = performance.now() - began;
    times.get(fault)!.push(took);
    memory.push(residentMiB(service.pid));
    verdict.expect(
      accepts && took < fault.withinMs,
      `a report is acknowledged within ${seconds(fault.withinMs)} after the leader ${fault.name}`,
      seconds(took),
    );
    verdict.equal(service.exited(), null, 'the service survives');
    say(
      `${String(n + 1).padStart(3)}  ${leader.name} ${fault.name}; acknowledged after ${seconds(took)}, ${load.acknowledged.length} in all, ${memory.at(-1)} MiB`,
    );
    if (fault.end !== undefined) {
      await sleep(between(0, STANDSTILL_MS));
      fault.end();
    }
    await until(
      async () => (await Promise.all(nodes.map(stateOf))).every((state) => state !== null),
      LEADER_WITHIN_MS,
    );
  }
  for (const [{ name }, each] of times)
    if (each.length > 0)
      say(
        `${name} (${each.length}): acknowledged after ${seconds(percentile(each, 0.5))} in the median, ${seconds(Math.max(...each))} at most`,
      );
  checkMemory(memory, verdict);
}

/** Resident MiB of the service at each fault: a process that has warmed up does not grow. */
function checkMemory(memory: readonly number[], verdict: Verdict): void {
  if (memory.length < MEMORY_FROM) return;
  const fifth = Math.floor(memory.length / 5);
  const [second, last] = [memory.slice(fifth, 2 * fifth), memory.slice(-fifth)].map((each) =>
    percentile(each, 0.5),
  ) as [number, number];
  verdict.expect(
    last < second * MAX_GROWTH,
    `the memory of the service grows by less than ${MAX_GROWTH} from the second fifth to the last`,
    `${second} to ${last} MiB`,
  );
}

/** Each acknowledged report is in the log once, and the audit of log and read models is in order. */
async function checkLog(
  { databaseUrl, pool, masterKey }: Shared,
  url: string,
  load: ReportLoad,
  { verdict, say }: SuiteOptions,
): Promise<void> {
  const store = openEventStoreDb(url);
  try {
    const missing: string[] = [];
    const doubled: string[] = [];
    const ids = load.acknowledged.map(({ payoutId }) => payoutId);
    for (const id of new Set(ids)) {
      const reports = (await store.readStream(`payout-${id}`)).filter(({ type }) =>
        type.startsWith('payout.reported'),
      );
      if (reports.length === 0) missing.push(id);
      if (reports.length > 1) doubled.push(id);
    }
    verdict.none(missing, 'an acknowledged payout is not in the log');
    verdict.none(doubled, 'a payout was recorded twice');
    verdict.equal(new Set(ids).size, ids.length, 'each report has a separate payout');
    const head = await store.head();
    const behind = `select from event_store.checkpoints where position is null or position::numeric < $1`;
    await verdict.eventually(
      'every read model has all events',
      async () => (await pool.query(behind, [head])).rowCount === 0,
      RECOVERY_MS,
    );
  } finally {
    await store.close();
  }
  const env = { DATABASE_URL: databaseUrl, EVENT_STORE_URL: url, MASTER_KEY: masterKey };
  const { printed, exitCode } = await invoke('audit', env, 'verify');
  verdict.expect(exitCode === null || exitCode === 1, `npm run audit -- verify\n${printed}`);
  say(`audit ${printed.trim().split('\n').at(-1) ?? ''}`);
}
