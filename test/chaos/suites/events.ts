import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../../bench/support/wait.js';
import { EventBooks } from '../../support/tracking/event-books.js';
import { BatchLoad } from '../support/events/batch-load.js';
import { checkEvents, settled, waiting } from '../support/events/event-facts.js';
import { EventsStage } from '../support/events/events-stage.js';
import { victimOf } from '../support/postgres-victim.js';
import {
  between,
  oneOf,
  percentile,
  seconds,
  type EventVictim,
  type Suite,
  type SuiteOptions,
} from '../support/suite.js';

const MERCHANTS = 4;
const CLIENTS = 3;
const CLIENT_PAUSE_MS = 150;
const BETWEEN_KILLS_MS = [50, 800] as const;
/** One kill in so many hits a service that has only begun to start. */
const DURING_START = 0.1;
const RESPONSES_WITHIN_MS = 60_000;
/** A forwarder that was killed is replaced after 16 s; what waits and the provider's pauses come on top. */
const SETTLE_MS = 180_000;
/** A run ends when so many times the kills that were asked for did not find what they looked for. */
const PATIENCE = 3;

/**
 * `kill -9` in the moment in which a batch got its 202, over and over, under the load of several merchants.
 * A kill counts when it found batches with a response that nobody had processed. In the end every accepted event is there once,
 * and nothing else is; each was forwarded with its id; no batch is stuck.
 */
export const events: Suite = async (options) => {
  const { count, verdict, say, kill } = options;
  const books = new EventBooks();
  const stage = await EventsStage.open(MERCHANTS);
  const target = {
    port: stage.service.port,
    merchants: stage.merchants,
    clients: CLIENTS,
    pauseMs: CLIENT_PAUSE_MS,
  };
  const load = new BatchLoad(target, books, verdict);
  try {
    load.start();
    const found: number[] = [];
    let kills = 0;
    for (; found.length < count && kills < count * PATIENCE;) {
      await sleep(between(...BETWEEN_KILLS_MS));
      kills += 1;
      const victim = kill ?? oneOf(['service', 'both', 'both'] as const);
      const line = await strike(stage, load, victim, options, async () => {
        const left = await waiting(stage.service.pool, books);
        if (left.responded > 0) found.push(left.responded);
        return `${left.accepted} batches unprocessed, ${left.responded} of them with a response`;
      });
      say(`${String(found.length).padStart(3)}  ${line}; responses ${load.responded}`);
    }
    await load.stop();
    verdict.expect(found.length >= count, 'kills between 202 and processing', found.length);
    say(
      `kills ${kills}, of which ${found.length} found unprocessed batches with a response: median ${percentile(found, 0.5)}, most ${Math.max(0, ...found)}`,
    );
    say(`load  ${books.sent.length} batches, responses: ${load.tally.toString()}`);
    const began = performance.now();
    await eventually(
      'every batch is processed and forwarded',
      () => settled(stage.service.pool),
      SETTLE_MS,
    ).catch((error: Error) => verdict.expect(false, error.message));
    say(`settled ${seconds(performance.now() - began)} after the last response`);
    await checkEvents(stage, books, options);
    await leave(stage, options);
  } finally {
    await load.abandon();
    await stage.close();
  }
};

/** Waits for a 202 and kills in the same turn; looks at what is left; starts what was killed. */
async function strike(
  stage: EventsStage,
  load: BatchLoad,
  victim: EventVictim,
  { verdict }: SuiteOptions,
  look: () => Promise<string>,
): Promise<string> {
  const { service, worker } = stage;
  let gone: Promise<unknown> = Promise.resolve();
  let name: string = victim;
  const act = (): void => {
    if (victim === 'postgres') {
      const chosen = victimOf(service);
      name = chosen.name;
      process.kill(chosen.pid, 'SIGKILL');
    } else {
      gone = Promise.all([
        victim === 'worker' ? null : service.kill(),
        victim === 'service' ? null : worker.kill(),
      ]);
    }
  };
  const heard = await load.atNext202(act, RESPONSES_WITHIN_MS);
  verdict.expect(heard, `batches get a response within ${RESPONSES_WITHIN_MS / 1000} s`);
  if (!heard) throw new Error(`no responses:\n${service.lastWords()}`);
  await gone;
  const began = performance.now();
  if (victim === 'postgres') {
    const left = await eventuallyLooked(look);
    return `${name} killed; ${left}; back after ${seconds(performance.now() - began)}`;
  }
  const left = await look();
  if (victim !== 'service') await worker.spawn();
  if (victim !== 'worker') await startService(stage);
  return `${name.padEnd(7)} killed; ${left}; back after ${seconds(performance.now() - began)}`;
}

async function startService({ service }: EventsStage): Promise<void> {
  service.spawn();
  if (Math.random() < DURING_START) {
    await sleep(between(50, 1500));
    await service.kill();
    service.spawn();
  }
  await service.ready();
}

/** As soon as the database responds again. */
async function eventuallyLooked(look: () => Promise<string>): Promise<string> {
  const until = performance.now() + RESPONSES_WITHIN_MS;
  for (;;) {
    try {
      return await look();
    } catch (error) {
      if (performance.now() > until) throw error;
      await sleep(10);
    }
  }
}

async function leave(stage: EventsStage, { verdict, say }: SuiteOptions): Promise<void> {
  const ends = [await stage.worker.stop(), await stage.service.stop()];
  for (const end of ends) verdict.expect(end === 'exit code 0', 'SIGTERM ends a process', end);
  const left = stage.service.parts();
  verdict.none(left, 'a process of the sandbox outlives it');
  say(`end   ${ends.join(', ')}`);
}
