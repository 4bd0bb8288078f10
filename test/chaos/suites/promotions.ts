import { setTimeout as sleep } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { until } from '../../../sandbox/processes.js';
import { canPartition, cutOff, heal } from '../support/partition.js';
import type { Member } from '../support/promotions/member.js';
import { ReplicatedPostgres } from '../support/promotions/replicated-postgres.js';
import type { ReportLoad } from '../support/report-load.js';
import { Shared } from '../support/shared.js';
import { storm, type Struck } from '../support/storm.js';
import { between, percentile, seconds, type Suite, type SuiteOptions, oneOf } from '../support/suite.js';
import { Line, type Outcome } from '../support/line.js';
import { randomHash } from '../../support/payouts/payout-calls.js';
import { keyed, REPORT, reportBody } from '../support/payouts.js';
import type { ServiceProcess } from '../../../bench/support/service.js';
import type { Verdict } from '../support/verdict.js';

const CLIENTS = 4;

interface Sent {
  readonly key: string;
  readonly request: string;
  readonly outcome: Outcome;
  readonly tookMs: number;
}

const resultOf = (outcome: Outcome): string =>
  outcome.kind === 'responded' ? String(outcome.status) : outcome.why;

/** A service process that is connected directly to a server, without the proxy, and misses promotions. */
class Stray {
  private sent: readonly Sent[] = [];

  private constructor(
    private readonly process: ServiceProcess,
    private readonly struck: Struck,
    private readonly verdict: Verdict,
  ) {}

  static async start(struck: Struck, url: string, verdict: Verdict): Promise<Stray> {
    const env = { ...struck.env, ROLES: 'api', DATABASE_URL: url };
    // The process writes only for clients once `sandbox.json` exists.
    return new Stray(await struck.shared.service(`stray-${randomUUID()}`, env), struck, verdict);
  }

  async result(): Promise<string> {
    const each = this.sent.map(({ outcome, tookMs }) => `${resultOf(outcome)} after ${seconds(tookMs)}`);
    this.verdict.equal(this.process.exited(), null, 'a process connected to the former primary lives');
    return `a process connected to it responded ${each.join(', ')}, its readiness is ${await this.readiness()}`;
  }

  /** Returns whether a proxy in front of it would send it requests. */
  async readiness(): Promise<string> {
    const line = new Line(this.process.port, this.verdict);
    const request = { method: 'GET' as const, path: '/health/ready', headers: {}, body: '' };
    const outcome = await line.exchange(request);
    line.close();
    return resultOf(outcome);
  }

  /** Sends reports after the promotion. None is acknowledged. */
  async report(): Promise<void> {
    const { merchant, payees } = this.struck.target;
    const send = async (): Promise<Sent> => {
      const line = new Line(this.process.port, this.verdict);
      const [key, request] = [randomUUID(), reportBody(oneOf(payees).id, 1_000_000, randomHash())];
      const began = performance.now();
      const outcome = await line.exchange(keyed(merchant, REPORT.path, request, key));
      line.close();
      return { key, request, outcome, tookMs: performance.now() - began };
    };
    this.sent = await Promise.all(Array.from({ length: CLIENTS }, send));
    for (const { outcome } of this.sent)
      this.verdict.expect(
        outcome.kind === 'responded' && outcome.status === 503,
        'a process connected to the former primary responds 503 to a write',
        outcome,
      );
  }

  /** Repeats the reports at a process that is connected to the new primary. */
  async repeat(): Promise<void> {
    const line = new Line(this.struck.target.port, this.verdict);
    for (const { request, key } of this.sent) await this.struck.load.report(line, request, 'nothing', key);
    line.close();
  }

  async kill(): Promise<void> {
    if (this.process.runs) await this.process.kill();
  }
}

/** The primary is killed, stopped for a while, or cut off from all other processes. */
const FAULTS = ['kill', 'stop', 'partition'] as const;
type Fault = (typeof FAULTS)[number];

/** The promotions in one cluster before its books are checked. */
const BATCH = 50;
const CLIENT_PAUSE_MS = 800;
/** The maximum time from the fault to the first 201 of a later report. */
const MAX_OUTAGE_MS = 10_000;
const GIVE_UP_MS = 90_000;
/** Longer than a round. */
const LATELY_MS = 180_000;
/** One in so many surviving primaries still has a connected process. */
const STRAY_EVERY = 3;

/** All times are in milliseconds since the fault. */
interface Times {
  readonly noticed: number;
  readonly promoted: number;
  readonly written: number;
}

export const promotions: Suite = async (options) => {
  const { count, say } = options;
  const faults = canPartition() ? FAULTS : FAULTS.filter((fault) => fault !== 'partition');
  if (faults.length < FAULTS.length) say('no partitions: they need root and nft');
  else heal();
  const times: Times[] = [];
  for (let done = 0; done < count; done += BATCH) {
    let cluster: ReplicatedPostgres | null = null;
    const blow = async (struck: Struck): Promise<string> => {
      const round = times.length;
      const fault = faults[round % faults.length]!;
      const meetsStray = Math.floor(round / faults.length) % STRAY_EVERY === 0;
      const result = await promotion(fault, meetsStray, cluster!, struck, options);
      times.push(result.times);
      await checkNothingLost(struck, options);
      return result.line;
    };
    const start = (): Promise<Shared> =>
      Shared.start({}, async (postgres) => (cluster = await ReplicatedPostgres.start(postgres)));
    const batch = { ...options, count: Math.min(BATCH, count - done) };
    await storm(batch, blow, { start, pauseMs: CLIENT_PAUSE_MS });
  }
  for (const [index, fault] of faults.entries())
    report(
      fault,
      times.filter((_, round) => round % faults.length === index),
      say,
    );
};

/** Causes a fault, promotes a standby, and attaches the former primary as a standby. */
async function promotion(
  fault: Fault,
  meetsStray: boolean,
  cluster: ReplicatedPostgres,
  struck: Struck,
  { verdict }: SuiteOptions,
): Promise<{ readonly times: Times; readonly line: string }> {
  const stray =
    meetsStray && fault !== 'kill'
      ? await Stray.start(struck, cluster.primary.localUrl(struck.shared.database), verdict)
      : null;
  try {
    await strike(fault, cluster.primary);
    const began = performance.now();
    const after = (): number => performance.now() - began;
    const writes = firstWrite(struck.load, began);
    await cluster.primaryIsLost();
    const noticed = after();
    const former = await cluster.promote();
    const promoted = after();
    const met = await endFault(fault, former, stray);
    const written = await writes;
    verdict.expect(
      written < MAX_OUTAGE_MS,
      `after ${fault} reports are acknowledged again within ${seconds(MAX_OUTAGE_MS)}`,
      seconds(written),
    );
    verdict.equal(struck.service.exited(), null, 'the service survives');
    await former.kill();
    await stray?.repeat();
    const rebuilding = performance.now();
    await cluster.rebuild(former);
    const line = [
      `${fault} of ${former.name}: noticed after ${seconds(noticed)}, ${cluster.primary.name} promoted after ${seconds(promoted)}`,
      `first 201 after ${seconds(written)}; rebuilt in ${seconds(performance.now() - rebuilding)}${met};`,
    ].join(', ');
    return { times: { noticed, promoted, written }, line };
  } finally {
    if (fault === 'partition') heal();
    await stray?.kill();
  }
}

async function strike(fault: Fault, primary: Member): Promise<void> {
  if (fault === 'kill') await primary.kill();
  else if (fault === 'stop') await primary.signal('SIGSTOP');
  else cutOff(primary.port);
}

/** Continues the former primary, which still acts as one, and checks the stray process. */
async function endFault(fault: Fault, former: Member, stray: Stray | null): Promise<string> {
  if (fault === 'kill') return '';
  await sleep(between(0, 1000));
  // A process on its side of the partition still reaches it.
  const inPartition = fault === 'partition' ? stray?.report() : undefined;
  if (fault === 'stop') await former.signal('SIGCONT');
  else heal();
  await (inPartition ?? stray?.report());
  await sleep(between(500, 1500));
  const [row] = await former.query<{ waiting: number; recovers: boolean }>(
    `select count(*) filter (where wait_event = 'SyncRep')::int as waiting, pg_is_in_recovery() as recovers
     from pg_stat_activity`,
  );
  const believes = row!.recovers ? 'is a standby' : 'believes that it is the primary';
  const met = stray === null ? '' : `; ${await stray.result()}`;
  return `; ${former.name} ${believes}, where ${row!.waiting} commits wait${met}`;
}

async function firstWrite(load: ReportLoad, began: number): Promise<number> {
  await until(() => load.acknowledgedBegunAfter(began), GIVE_UP_MS);
  return performance.now() - began;
}

/** Every recently acknowledged report is in the new primary's log. The end of the batch checks all. */
async function checkNothingLost({ shared, load }: Struck, { verdict }: SuiteOptions): Promise<void> {
  const acknowledged = load.acknowledged.filter(({ beganAt }) => beganAt > performance.now() - LATELY_MS);
  const { rows } = await shared.pool.query<{ stream: string }>(
    'select stream from event_store.events where revision = 0 and stream = any($1::text[])',
    [acknowledged.map(({ id }) => `payout-${id}`)],
  );
  const found = new Set(rows.map(({ stream }) => stream));
  verdict.none(
    'an acknowledged report is not in the log of the new primary',
    acknowledged,
    ({ id }) => !found.has(`payout-${id}`),
  );
}

function report(fault: Fault, times: readonly Times[], say: (line: string) => void): void {
  if (times.length === 0) return;
  const of = (what: keyof Times): string => {
    const values = times.map((each) => each[what]);
    return `${seconds(percentile(values, 0.5))} in the median, ${seconds(Math.max(...values))} at most`;
  };
  say(`${fault} (${times.length}): noticed after ${of('noticed')}`);
  say(`      promoted after ${of('promoted')}`);
  say(`      first 201 after ${of('written')}`);
}
