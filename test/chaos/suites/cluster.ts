import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  addressOf,
  nodesOf,
  serverCommand,
  stateOf,
  SupervisedNode,
  untilLed,
} from '../../../scripts/lib/eventstore-nodes.mjs';
import { residentMiB } from '../../../bench/support/memory.js';
import { isAlive, until } from '../../../sandbox/processes.js';
import { openEventStoreDb } from '../../../src/platform/event-store/eventstoredb/eventstoredb-event-store.js';
import { invoke } from '../../support/programs/cli.js';
import { canPartition, heal, split } from '../support/partition.js';
import { activePayee } from '../support/payouts.js';
import { ReportLoad } from '../support/report-load.js';
import { Shared } from '../support/shared.js';
import { between, seconds, type Suite, type SuiteOptions } from '../support/suite.js';

const PORT = 24_113;
const FIRST_GID = 24_113;
const CLIENTS = 4;
const CLIENT_PAUSE_MS = 120;
const RECOVERY_MS = 60_000;
const STANDSTILL_MS = 15_000;
const LEADER_WITHIN_MS = 60_000;
/** Longer than any payout needs: none expires during the run. */
const WINDOW_SECONDS = 3600;

interface Fault {
  readonly name: string;
  /** Until a report that was begun after it is acknowledged. */
  readonly withinMs: number;
  strike(leader: SupervisedNode, others: readonly SupervisedNode[]): Promise<void>;
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
    async strike({ node }) {
      const response = await fetch(`${node.url}/admin/node/resign`, { method: 'POST' });
      if (!response.ok) throw new Error(`${node.name} does not resign: ${response.status}`);
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
 * Three nodes of EventStoreDB whose leader is killed, stopped, resigns and is cut off from the other two under a load of reports. Writes are accepted
 * again in time, and what was acknowledged is in the log once, with an audit in order.
 */
export const cluster: Suite = async (options) => {
  const { count, verdict, say } = options;
  const shared = await Shared.start();
  const dir = mkdtempSync(join(shared.environment.dir, 'cluster-'));
  const faults = canPartition() ? FAULTS : FAULTS.filter(({ end }) => end === undefined);
  if (faults.length < FAULTS.length) say('no split networks: they need root and nft');
  const firstGid = canPartition() ? FIRST_GID : null;
  const nodes = nodesOf({ size: 3, port: PORT, dir, firstGid });
  const running = nodes.map((node) => new SupervisedNode(node, serverCommand()));
  let load: ReportLoad | null = null;
  try {
    for (const each of running) each.start();
    await untilLed(nodes);
    const env = {
      EVENT_STORE_URL: addressOf(nodes),
      PAYOUT_VERIFICATION_WINDOW_SECONDS: String(WINDOW_SECONDS),
    };
    const service = await shared.service('service', env);
    const { merchant, baseUrl, port } = service;
    const payees = [await activePayee(baseUrl, merchant), await activePayee(baseUrl, merchant)];
    load = new ReportLoad(
      { port, merchant, payees, treasury: await shared.treasury() },
      verdict,
      CLIENT_PAUSE_MS,
    );
    load.start(CLIENTS);
    for (let n = 0; n < count; n += 1) {
      await sleep(between(1000, 4000));
      const fault = faults[n % faults.length]!;
      const leader = await untilLed(nodes);
      await fault.strike(
        running.find(({ node }) => node === leader)!,
        running.filter(({ node }) => node !== leader),
      );
      const began = performance.now();
      const accepts = await until(() => load!.acknowledgedBegunAfter(began), RECOVERY_MS);
      const took = performance.now() - began;
      verdict.expect(
        accepts && took < fault.withinMs,
        `a report is acknowledged within ${seconds(fault.withinMs)} after the leader ${fault.name}`,
        seconds(took),
      );
      verdict.equal(service.exited(), null, 'the service survives');
      say(
        `${String(n + 1).padStart(3)}  ${leader.name} ${fault.name}; acknowledged after ${seconds(took)}, ${load.acknowledged.length} in all, ${residentMiB(service.pid)} MiB`,
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
    await load.stop();
    say(`load  ${load.acknowledged.length} acknowledged; tries: ${load.tally.toString()}`);
    await checkLog(shared, env.EVENT_STORE_URL, load, options);
    verdict.equal(await service.stop(), 'exit code 0', 'SIGTERM ends it');
  } finally {
    if (canPartition()) heal();
    for (const each of running) each.stop();
    await load?.abandon();
    await shared.close();
  }
};

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
