import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import {
  serverCommand,
  stateOf,
  SupervisedNode,
  untilLed,
  type Node,
} from '../../../scripts/lib/eventstore-nodes.mjs';
import { count } from '../../../bench/support/count.js';
import { residentMiB } from '../../../bench/support/memory.js';
import { isAlive, until } from '../../../sandbox/processes.js';
import { openEventStoreDb } from '../../../src/platform/event-store/eventstoredb/eventstoredb-event-store.js';
import { checkAudit } from '../support/books.js';
import { canPartition, heal, isolate } from '../support/partition.js';
import { createPayee } from '../../support/payouts/payout-calls.js';
import { ReportLoad } from '../support/report-load.js';
import { secureCluster, type SecureCluster } from '../support/secure-cluster.js';
import type { ServiceProcess } from '../../../bench/support/service.js';
import { Shared } from '../support/shared.js';
import { between, percentile, seconds, type Suite, type SuiteOptions } from '../support/suite.js';

const CLIENTS = 8;
const CLIENT_PAUSE_MS = 120;
const RECOVERY_MS = 60_000;
const STANDSTILL_MS = 15_000;
const LEADER_WITHIN_MS = 120_000;
const LOAD_EVERY_MS = 60_000;
/** Longer than any fault. Payouts without a transfer expire after it, so that few are pending. */
const WINDOW_SECONDS = 90;
/** A small heap, so that a leak per report or per fault ends the process. */
const HEAP_MIB = 256;
const MAX_RESIDENT_MIB = 512;

interface Fault {
  readonly name: string;
  /** The maximum time until a report that began after the fault is acknowledged. */
  readonly withinMs: number;
  strike(leader: SupervisedNode, cluster: SecureCluster): Promise<void>;
  /** False if the same node may be elected again. */
  readonly deposes?: false;
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
    deposes: false,
    async strike({ node: { name, url, dispatcher } }, { authorization }) {
      const options = { method: 'POST', dispatcher, headers: { authorization } } as const;
      const { statusCode } = await request(`${url}/admin/node/resign`, options);
      if (statusCode >= 300) throw new Error(`${name} does not resign: ${statusCode}`);
    },
  },
  {
    name: 'cut off',
    withinMs: 8000,
    strike: async ({ node }) => isolate(node),
    end: heal,
  },
];

/**
 * Three nodes of EventStoreDB with TLS serve a load of reports, until there are `--payouts`. Their leader is
 * killed, stopped, resigns or is cut off. Writes continue within the bound, every acknowledged report is in
 * the log once, and the service runs in a small heap.
 */
export const cluster: Suite = async (options) => {
  const { verdict, say } = options;
  await Shared.run(async (shared) => {
    if (canPartition()) {
      heal();
      shared.ends.add(heal);
    }
    const secured = secureCluster(mkdtempSync(join(shared.environment.dir, 'cluster-')));
    const running = secured.nodes.map((node) => new SupervisedNode(node, serverCommand()));
    for (const each of running) {
      shared.ends.add(() => each.stop());
      each.start();
    }
    verdict.expect(await isWhole(secured), 'the cluster has a leader and two followers');
    const env = {
      EVENT_STORE_URL: secured.url,
      PAYOUT_VERIFICATION_WINDOW_SECONDS: String(WINDOW_SECONDS),
      NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}`,
    };
    const service = await shared.process('service', env).start();
    await service.registered();
    const { merchant, client, port } = service;
    const payees = [await createPayee(client), await createPayee(client)];
    const target = { port, merchant, payees, treasury: await shared.treasury() };
    const load = new ReportLoad(target, verdict, CLIENT_PAUSE_MS);
    shared.ends.add(() => load.abandon());
    load.start(CLIENTS);
    await faultsUnderLoad(secured, running, service, load, options);
    await load.stop();
    say(`load  ${load.acknowledged.length} acknowledged; tries: ${load.tally.toString()}`);
    await checkLog(shared, secured.url, load, options);
    verdict.equal(await service.stop(), 'exit code 0', 'SIGTERM ends it');
  });
};

async function faultsUnderLoad(
  secured: SecureCluster,
  running: readonly SupervisedNode[],
  service: ServiceProcess,
  load: ReportLoad,
  { count, verdict, say, sizes = {} }: SuiteOptions,
): Promise<void> {
  const { nodes } = secured;
  const { payouts = 0 } = sizes;
  const faults = canPartition() ? FAULTS : FAULTS.filter(({ end }) => end === undefined);
  if (faults.length < FAULTS.length) say('no split networks: they need root and nft');
  const times = new Map(faults.map((fault) => [fault, [] as number[]]));
  const memory: number[] = [];
  for (let n = 0; n < count; n += 1) {
    await sleep(between(1000, 4000));
    await reach(load, (payouts * n) / count);
    const fault = faults[n % faults.length]!;
    const leader = await untilLed(nodes);
    await fault.strike(
      running.find(({ node }) => node === leader)!,
      secured,
    );
    const began = performance.now();
    const led = anotherLeads(fault, leader, nodes);
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
    const ledAfter = await led;
    if (ledAfter !== '')
      verdict.expect(ledAfter !== null, `another node leads after ${leader.name} ${fault.name}`);
    const leads = ledAfter ? `another leads after ${ledAfter}, ` : '';
    say(
      `${String(n + 1).padStart(3)}  ${leader.name} ${fault.name}; ${leads}acknowledged after ${seconds(took)}, ${load.acknowledged.length} in all, ${memory.at(-1)} MiB`,
    );
    if (fault.end !== undefined) {
      await sleep(between(0, STANDSTILL_MS));
      fault.end();
    }
    verdict.expect(await isWhole(secured), `all nodes follow again after ${leader.name} ${fault.name}`);
  }
  await reach(load, payouts);
  for (const [{ name }, each] of times)
    if (each.length > 0)
      say(
        `${name} (${each.length}): acknowledged after ${seconds(percentile(each, 0.5))} in the median, ${seconds(Math.max(...each))} at most`,
      );
  verdict.expect(
    Math.max(...memory) < MAX_RESIDENT_MIB,
    `the service has enough with a heap of ${HEAP_MIB} MiB, ${MAX_RESIDENT_MIB} in all`,
    `${Math.max(...memory)} MiB`,
  );
}

/** Returns the time until another leader is elected: empty if the fault deposes none, null if never. */
async function anotherLeads(
  { deposes }: Fault,
  former: Node,
  nodes: readonly Node[],
): Promise<string | null> {
  if (deposes === false) return '';
  const began = performance.now();
  const others = nodes.filter((node) => node !== former);
  const led = async (): Promise<boolean> => (await Promise.all(others.map(stateOf))).includes('leader');
  return (await until(led, LEADER_WITHIN_MS)) ? seconds(performance.now() - began) : null;
}

/** Returns whether every node has all events, so that the next failure cannot remove the last copy. */
function isWhole({ nodes }: SecureCluster): Promise<boolean> {
  const states = async (): Promise<string> => (await Promise.all(nodes.map(stateOf))).sort().join();
  return until(async () => (await states()) === 'follower,follower,leader', LEADER_WITHIN_MS);
}

/** Waits until `payouts` reports are acknowledged, or no new one arrives. */
async function reach(load: ReportLoad, payouts: number): Promise<void> {
  for (let last = -1; load.acknowledged.length < payouts && load.acknowledged.length > last;) {
    last = load.acknowledged.length;
    await sleep(LOAD_EVERY_MS);
  }
}

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
    const ids = load.acknowledged.map(({ id }) => id);
    for (const id of new Set(ids)) {
      const reports = (await store.readStream(`payout-${id}`)).filter(({ type }) =>
        type.startsWith('payout.reported'),
      );
      if (reports.length === 0) missing.push(id);
      if (reports.length > 1) doubled.push(id);
    }
    verdict.none('an acknowledged payout is not in the log', missing);
    verdict.none('a payout was recorded twice', doubled);
    verdict.equal(new Set(ids).size, ids.length, 'each report has a separate payout');
    const head = await store.head();
    const behind = `select from event_store.checkpoints where position is null or position::numeric < $1`;
    await verdict.eventually(
      'every read model has all events',
      async () => (await pool.query(behind, [head])).rowCount === 0,
      RECOVERY_MS,
    );
    const listed = await count(pool, 'payouts.payouts');
    verdict.equal(listed, ids.length, 'payouts in the read model, one per acknowledged report');
  } finally {
    await store.close();
  }
  const env = { DATABASE_URL: databaseUrl, EVENT_STORE_URL: url, MASTER_KEY: masterKey };
  say(`audit ${await checkAudit(env, verdict)}`);
}
