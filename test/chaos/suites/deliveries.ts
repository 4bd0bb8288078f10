import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../../bench/support/wait.js';
import { between, oneOf, percentile, seconds, type Suite, type SuiteOptions } from '../support/suite.js';
import {
  atTheEnd,
  checkArrived,
  checkCheckpoint,
  checkTable,
  settled,
} from '../support/webhooks/delivery-facts.js';
import { expectedDeliveries } from '../support/webhooks/expected.js';
import type { Manner } from '../support/webhooks/receiver-protocol.js';
import type { AllSeen } from '../support/webhooks/receivers.js';
import { Stage } from '../support/webhooks/stage.js';
import type { Worker } from '../support/webhooks/worker.js';

/** A kill comes this long after the one before; a start takes about a second, so that some kills hit it. */
const BETWEEN_KILLS_MS = [100, 6000] as const;
/** Of ten endpoints of a merchant: how each responds. */
const MANNERS: readonly Manner[] = [
  ...(['prompt', 'flaky', 'slow', 'prompt', 'flaky', 'prompt', 'slow', 'prompt', 'flaky', 'prompt'] as const),
];
/** What a dead sender held is free after 10 s; the longest retries of the run then follow. */
const SETTLE_MS = 120_000;

/** A kill as it went. */
interface Kill {
  /** Unix milliseconds when the process was gone. */
  readonly at: number;
  readonly alone: boolean;
}

/**
 * Deliveries to many endpoints while workers are killed with `kill -9` at random moments and started again, one alone
 * in the first half and two side by side in the second. Events are appended all the while. In the end everything that
 * was emitted has come, unchanged and to the right endpoint, and nothing is stuck.
 */
export const deliveries: Suite = async (options) => {
  const { say, verdict, sizes = {}, queue = 'postgres' } = options;
  const { deliveries: wanted = 50_000, endpoints = 1000 } = sizes;
  const stage = await Stage.open({
    endpoints,
    queue,
    mannerOf: (place) => MANNERS[place % MANNERS.length]!,
    env: {
      WEBHOOK_TIMEOUT_MS: String(sizes['timeout-ms'] ?? 5000),
      WEBHOOK_RETRY_SCHEDULE_SECONDS: '0,0.5,1,1,2,2,5,5,5,5',
    },
  });
  try {
    const kills = await killWhile(stage, wanted, options);
    const expected = await expectedDeliveries(stage.pool, stage.merchants.hooks);
    const began = performance.now();
    await eventually(
      'nothing is left to send',
      async () => (await settled(stage.pool, expected.size)) && (await atTheEnd(stage.pool)),
      SETTLE_MS,
    ).catch((error: Error) => verdict.expect(false, error.message));
    say(`settled ${seconds(performance.now() - began)} after the last kill`);
    const seen = await stage.receivers.seen();
    checkArrived(seen, expected, verdict);
    await checkCheckpoint(stage.pool, verdict);
    const { attempts, requests, unrecorded } = await checkTable(stage.pool, seen, expected, verdict);
    say(`${expected.size} deliveries emitted, ${seen.arrived.size} came in ${requests} requests`);
    say(
      `${attempts} attempts recorded; ${unrecorded} requests of killed workers are not (one each, sent again)`,
    );
    checkRepeats(kills.held, unrecorded, seen, options);
    checkCap(seen, options);
    sayRecovery(kills.all, seen, options);
    await sayLateness(stage, options);
    await leave(stage, kills.workers, options);
  } finally {
    await stage.close();
  }
};

interface Kills {
  readonly all: readonly Kill[];
  /** Deliveries in hand of a sender at the moment of a kill; one that two senders held in turn counts twice. */
  readonly held: number;
  readonly workers: readonly Worker[];
}

async function killWhile(stage: Stage, wanted: number, options: SuiteOptions): Promise<Kills> {
  const { count, say, verdict } = options;
  const workers = [stage.worker('worker-1'), stage.worker('worker-2')];
  const [first, second] = workers as [Worker, Worker];
  const all: Kill[] = [];
  const held = new Set<string>();
  await first.spawn();
  await first.ready();
  const publishing = publish(stage, wanted, count);
  for (let n = 1; n <= count; n += 1) {
    if (n === Math.ceil(count / 2) + 1) await second.spawn();
    await sleep(between(...BETWEEN_KILLS_MS));
    const alone = n <= Math.ceil(count / 2);
    const victim = alone ? first : oneOf(workers);
    await victim.kill();
    all.push({ at: performance.timeOrigin + performance.now(), alone });
    const left = await leftBehind(stage);
    const before = held.size;
    for (const each of left.held) held.add(each);
    await victim.spawn();
    if (stage.redis !== null) await strikeQueue(stage.redis, workers, n, options);
    say(
      `${String(n).padStart(3)}  killed, ${held.size - before} were in hand; ${left.done} done, ${left.pending} to do`,
    );
  }
  const published = await publishing.done();
  verdict.expect(published >= wanted, 'as many deliveries were emitted as were asked for', published);
  await Promise.all(workers.map((each) => each.ready()));
  return { all, held: held.size, workers };
}

/** Appends events evenly over the time that the kills take on average. */
function publish(stage: Stage, wanted: number, kills: number): { readonly done: () => Promise<number> } {
  const overMs = kills * ((BETWEEN_KILLS_MS[0] + BETWEEN_KILLS_MS[1]) / 2);
  const began = performance.now();
  const work = (async () => {
    let emitted = 0;
    while (emitted < wanted) {
      const due = wanted * Math.min(1, (performance.now() - began) / overMs);
      while (emitted < due) {
        const made = await stage.merchants.publish();
        emitted += made;
      }
      await sleep(between(5, 150));
    }
    return emitted;
  })();
  work.catch(() => undefined);
  return { done: () => work };
}

/** What senders hold, the dead one's and a living one's alike, as pairs of delivery and sender; and how far all is. */
async function leftBehind(stage: Stage): Promise<{ held: readonly string[]; done: number; pending: number }> {
  const { rows } = await stage.pool.query<{ held: string[] | null; done: number; pending: number }>(
    `select array_agg(delivery_id || ' ' || leased_by) filter (where leased_by is not null) as held,
       count(*) filter (where state = 'succeeded')::int as done, count(*) filter (where state = 'pending')::int as pending
     from webhooks.deliveries`,
  );
  const { held, done, pending } = rows[0]!;
  return { held: held ?? [], done, pending };
}

/** The queue forgets everything after a third of the kills, and is unavailable for two seconds after two thirds. */
async function strikeQueue(
  redis: NonNullable<Stage['redis']>,
  workers: readonly Worker[],
  kill: number,
  { count, say }: SuiteOptions,
): Promise<void> {
  if (kill === Math.ceil(count / 3)) {
    await redis.flushAll();
    say('     Redis flushed');
  }
  if (kill === Math.ceil((2 * count) / 3)) {
    // A process that starts while its queue is unavailable ends at once, for its supervisor to start it again.
    await Promise.all(workers.map((each) => each.ready()));
    await redis.replace(2000);
    say('     Redis killed and replaced by an empty one after 2 s');
  }
}

/**
 * A delivery is sent more often than recorded only when its sender died between sending and recording: such a request
 * was of a delivery that the killed process had in hand.
 */
function checkRepeats(
  held: number,
  unrecorded: number,
  { arrived }: AllSeen,
  { say, verdict }: SuiteOptions,
): void {
  const repeated = [...arrived.values()].filter(({ accepted }) => accepted > 1);
  verdict.expect(
    unrecorded <= held,
    'requests beyond the recorded attempts are at most what killed workers had in hand',
    { unrecorded, held },
  );
  say(`${repeated.length} deliveries were accepted more than once; the killed workers had ${held} in hand`);
}

function checkCap({ mostOpen }: AllSeen, { say, verdict }: SuiteOptions): void {
  const most = Math.max(0, ...mostOpen.values());
  // The requests of a killed worker may be open still when its successor begins.
  verdict.expect(most <= 4 * 16, 'requests open at once at one endpoint', most);
  say(`${most} requests open at once at one endpoint at most`);
}

/** From a kill until the next request came, while one worker was alone. */
function sayRecovery(kills: readonly Kill[], { arrived }: AllSeen, { say }: SuiteOptions): void {
  const arrivals = [...arrived.values()].flatMap(({ at }) => at).sort((a, b) => a - b);
  // What was on its way when the process died still comes.
  const onItsWayMs = 50;
  const took = kills
    .filter(({ alone }) => alone)
    .map(({ at }) => (arrivals.find((each) => each > at + onItsWayMs) ?? Infinity) - at)
    .filter(Number.isFinite);
  say(
    `recovery ${took.length} times: median ${seconds(percentile(took, 0.5))}, worst ${seconds(Math.max(...took))}`,
  );
}

async function sayLateness(stage: Stage, { say }: SuiteOptions): Promise<void> {
  const { rows } = await stage.pool.query<{ p50: number; p99: number; most: number }>(
    `select percentile_disc(0.5) within group (order by late) as p50,
       percentile_disc(0.99) within group (order by late) as p99, max(late) as most
     from (select extract(epoch from finished_at - created_at)::float8 * 1000 as late from webhooks.deliveries) each`,
  );
  const { p50, p99, most } = rows[0]!;
  say(`from emitted to delivered: median ${seconds(p50)}, p99 ${seconds(p99)}, worst ${seconds(most)}`);
}

/** SIGTERM: nothing is held any more, and the senders have taken leave. */
async function leave(stage: Stage, workers: readonly Worker[], { verdict }: SuiteOptions): Promise<void> {
  for (const each of workers) {
    const end = await each.stop();
    verdict.expect(end === null || end === 'exit code 0', 'SIGTERM ends a worker', end);
  }
  const { rows } = await stage.pool.query<{ held: number }>(
    'select count(*)::int as held from webhooks.deliveries where leased_by is not null',
  );
  verdict.equal(rows[0]!.held, 0, 'deliveries held after SIGTERM');
}
