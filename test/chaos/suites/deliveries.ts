import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceProcess } from '../../../bench/support/service.js';
import { Shared } from '../support/shared.js';
import { between, oneOf, seconds, type Suite, type SuiteOptions } from '../support/suite.js';
import {
  atTheEnd,
  checkArrived,
  checkCheckpoint,
  checkTable,
  settled,
} from '../support/webhooks/delivery-facts.js';
import { expectedDeliveries } from '../support/webhooks/expected.js';
import { FLAKY_DELIVERIES, type Behavior } from '../support/webhooks/receivers.js';
import { DeliveryHarness } from '../support/webhooks/delivery-harness.js';

/** The range of pauses between kills. A start takes about 1 s, so that some kills hit it. */
const BETWEEN_KILLS_MS = [100, 6000] as const;
const BEHAVIORS: readonly Behavior[] = ['prompt', 'flaky', 'slow', 'prompt', 'flaky'];
/** Covers the lease of a dead sender (10 s) and the longest retries of the run. */
const SETTLE_MS = 120_000;
/** 16 per endpoint and process: two workers, and two killed ones whose requests may still be open. */
const MAX_OPEN = 4 * 16;

/**
 * Kills delivery workers with `kill -9` at random times while events are appended. One worker runs in the
 * first half, two in the second. In the end every delivery has arrived, unchanged and at the right endpoint.
 */
export const deliveries: Suite = async (options) => {
  const { say, verdict, sizes = {}, queue = 'postgres' } = options;
  const { deliveries: count = 50_000, endpoints = 1000 } = sizes;
  await Shared.run(async (shared) => {
    const harness = await DeliveryHarness.open(shared, {
      endpoints,
      queue,
      behaviorOf: (place) => BEHAVIORS[place % BEHAVIORS.length]!,
      env: {
        WEBHOOK_TIMEOUT_MS: String(sizes['timeout-ms'] ?? 5000),
        ...FLAKY_DELIVERIES,
      },
    });
    const kills = await killWhile(harness, count, options);
    const expected = await expectedDeliveries(harness.pool, harness.merchants.hooks);
    const began = performance.now();
    await verdict.eventually(
      'nothing is left to send',
      async () => (await settled(harness.pool, expected.size)) && (await atTheEnd(harness.pool)),
      SETTLE_MS,
    );
    say(`settled ${seconds(performance.now() - began)} after the last kill`);
    const { receivers } = harness;
    checkArrived(receivers, expected, verdict);
    await checkCheckpoint(harness.pool, verdict);
    const { attempts, requests, unrecorded } = await checkTable(harness.pool, receivers, expected, verdict);
    say(`${expected.size} deliveries emitted, ${receivers.arrived.size} came in ${requests} requests`);
    say(`${attempts} attempts recorded; ${unrecorded} requests of killed workers are not`);
    // Unrecorded requests are those whose sender died between sending and recording.
    verdict.expect(
      unrecorded <= kills.held,
      'requests beyond the recorded attempts are at most what killed workers held',
      { unrecorded, held: kills.held },
    );
    verdict.expect(receivers.maxOpen <= MAX_OPEN, 'requests open at once at one endpoint', receivers.maxOpen);
    await harness.terminate(kills.workers, verdict);
  });
};

interface Kills {
  /** Deliveries that a sender held at a kill. One that two senders held counts twice. */
  readonly held: number;
  readonly workers: readonly ServiceProcess[];
}

async function killWhile(
  harness: DeliveryHarness,
  deliveryCount: number,
  options: SuiteOptions,
): Promise<Kills> {
  const { count, say, verdict } = options;
  const workers = [harness.worker('worker-1'), harness.worker('worker-2')];
  const [first, second] = workers as [ServiceProcess, ServiceProcess];
  const held = new Set<string>();
  await first.spawn();
  await first.ready();
  const publishing = publish(harness, deliveryCount, count);
  const half = Math.floor(count / 2);
  for (let n = 1; n <= count; n += 1) {
    if (n === half + 1) await second.spawn();
    await sleep(between(...BETWEEN_KILLS_MS));
    const victim = n <= half ? first : oneOf(workers);
    await victim.kill();
    const left = await leftBehind(harness);
    const before = held.size;
    for (const each of left.held) held.add(each);
    await victim.spawn();
    if (harness.redis !== null) await strikeQueue(harness.redis, workers, n, options);
    say(
      `${String(n).padStart(3)}  killed, ${held.size - before} were held; ${left.done} done, ${left.pending} pending`,
    );
  }
  const published = await publishing.done();
  verdict.expect(published >= deliveryCount, 'as many deliveries are emitted as requested', published);
  await Promise.all(workers.map((each) => each.ready()));
  return { held: held.size, workers };
}

function publish(
  harness: DeliveryHarness,
  total: number,
  kills: number,
): { readonly done: () => Promise<number> } {
  const overMs = kills * ((BETWEEN_KILLS_MS[0] + BETWEEN_KILLS_MS[1]) / 2);
  const began = performance.now();
  const work = (async () => {
    let emitted = 0;
    while (emitted < total) {
      const due = total * Math.min(1, (performance.now() - began) / overMs);
      while (emitted < due) emitted += await harness.merchants.publish();
      await sleep(between(5, 150));
    }
    return emitted;
  })();
  work.catch(() => undefined);
  return { done: () => work };
}

/** Returns `<delivery> <sender>` for everything that senders hold, and the progress of the run. */
async function leftBehind(
  harness: DeliveryHarness,
): Promise<{ held: readonly string[]; done: number; pending: number }> {
  const { rows } = await harness.pool.query<{ held: string[] | null; done: number; pending: number }>(
    `select array_agg(delivery_id || ' ' || leased_by) filter (where leased_by is not null) as held,
       count(*) filter (where state = 'succeeded')::int as done, count(*) filter (where state = 'pending')::int as pending
     from webhooks.deliveries`,
  );
  const { held, done, pending } = rows[0]!;
  return { held: held ?? [], done, pending };
}

/** Empties the queue after a third of the kills, and stops it for two seconds after two thirds. */
async function strikeQueue(
  redis: NonNullable<DeliveryHarness['redis']>,
  workers: readonly ServiceProcess[],
  kill: number,
  { count, say }: SuiteOptions,
): Promise<void> {
  if (kill === Math.ceil(count / 3)) {
    await redis.flush();
    say('     Redis flushed');
  }
  if (kill === Math.ceil((2 * count) / 3)) {
    // A process that starts during the outage ends at once, and its supervisor restarts it.
    await Promise.all(workers.map((each) => each.ready()));
    await redis.replace(2000);
    say('     Redis killed and replaced by an empty one after 2 s');
  }
}
