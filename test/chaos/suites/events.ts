import { setTimeout as sleep } from 'node:timers/promises';
import { BatchLoad } from '../support/events/batch-load.js';
import { EventBooks } from '../support/events/event-books.js';
import { checkEvents, settled, waiting } from '../support/events/event-facts.js';
import { EventsHarness } from '../support/events/events-harness.js';
import { between, oneOf, percentile, seconds } from '../support/suite.js';
import type { EventVictim, Suite, SuiteOptions } from '../support/suite.js';

const CLIENTS = 12;
const BETWEEN_KILLS_MS = [50, 800] as const;
/** The share of kills that hit a starting service. */
const DURING_START = 0.1;
const RESPONSES_WITHIN_MS = 60_000;
/** A killed forwarder is replaced after 16 s; its backlog and the provider's pauses add to that. */
const SETTLE_MS = 180_000;
/** The maximum of kills per kill that counts. */
const MAX_KILLS_PER_COUNT = 3;

/**
 * `kill -9` as soon as a batch got its 202, under the load of two merchants. A kill counts when it found accepted
 * batches that were not processed. In the end each accepted event is stored once and forwarded with its id, and no
 * batch is stuck.
 */
export const events: Suite = async (options) => {
  const { count, verdict, say, kill } = options;
  const books = new EventBooks();
  const harness = await EventsHarness.open();
  const { service, shared } = harness;
  const load = new BatchLoad(service, books, verdict);
  try {
    load.start(CLIENTS);
    const found: number[] = [];
    let kills = 0;
    for (; found.length < count && kills < count * MAX_KILLS_PER_COUNT; kills += 1) {
      await sleep(between(...BETWEEN_KILLS_MS));
      const victim = kill ?? oneOf(['service', 'both', 'both'] as const);
      const line = await strike(harness, load, victim, options, async () => {
        const left = await waiting(shared.pool, books);
        if (left.responded > 0) found.push(left.responded);
        return `${left.accepted} batches unprocessed, ${left.responded} of them with a response`;
      });
      say(`${String(found.length).padStart(3)}  ${line}; responses ${load.responded}`);
    }
    await load.stop();
    verdict.expect(found.length >= count, 'kills between 202 and processing', found.length);
    say(`kills ${kills}; unprocessed batches with a response: median ${percentile(found, 0.5)}`);
    say(`load  ${books.sent.length} batches, responses: ${load.tally.toString()}`);
    await verdict.eventually('every batch is processed and forwarded', () => settled(shared.pool), SETTLE_MS);
    await checkEvents(harness, books, options);
    for (const each of [harness.worker, service])
      verdict.equal(await each.stop(), 'exit code 0', `SIGTERM ends ${each.name}`);
  } finally {
    await load.abandon();
    await harness.close();
  }
};

/** Kills at the next 202, counts the batches that are left, and restarts the process. */
async function strike(
  { shared, service, worker }: EventsHarness,
  load: BatchLoad,
  victim: EventVictim,
  { verdict }: SuiteOptions,
  countLeft: () => Promise<string>,
): Promise<string> {
  let killed: Promise<unknown> = Promise.resolve();
  const kills: Readonly<Record<EventVictim, readonly (() => Promise<unknown>)[]>> = {
    service: [() => service.kill()],
    worker: [() => worker.kill()],
    both: [() => service.kill(), () => worker.kill()],
    postgres: [() => shared.killPostgres()],
  };
  const kill = (): void => {
    killed = Promise.all(kills[victim].map((each) => each()));
  };
  const responded = await load.atNext202(kill, RESPONSES_WITHIN_MS);
  verdict.expect(responded, `batches get a response within ${RESPONSES_WITHIN_MS / 1000} s`);
  if (!responded) throw new Error(`no responses:\n${service.lastWords()}`);
  await killed;
  const began = performance.now();
  const left = await onceDatabaseResponds(countLeft);
  if (victim === 'worker' || victim === 'both') await worker.spawn();
  if (victim === 'service' || victim === 'both') await service.restart(DURING_START);
  return `${victim.padEnd(8)} killed; ${left}; restarted after ${seconds(performance.now() - began)}`;
}

async function onceDatabaseResponds(query: () => Promise<string>): Promise<string> {
  const until = performance.now() + RESPONSES_WITHIN_MS;
  for (;;) {
    try {
      return await query();
    } catch (error) {
      if (performance.now() > until) throw error;
      await sleep(10);
    }
  }
}
