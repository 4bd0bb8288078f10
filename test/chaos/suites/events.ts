import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { EventBooks, checkEvents, settled, waiting, type SentBatch } from '../support/events/event-books.js';
import { EventsHarness } from '../support/events/events-harness.js';
import {
  between,
  oneOf,
  percentile,
  seconds,
  type EventVictim,
  type Suite,
  type SuiteOptions,
} from '../support/suite.js';
import { signed } from '../../../bench/support/sign.js';
import { keyed } from '../support/payouts.js';
import type { Responded } from '../support/line.js';
import { Senders } from '../support/senders.js';
import { Shared } from '../support/shared.js';
import type { ServiceProcess } from '../../../bench/support/service.js';
import type { Verdict } from '../support/verdict.js';

const PATH = '/merchants/v1/events';
const PAUSE_MS = 150;
const GIVE_UP_MS = 120_000;
const REMEMBERED = 200;
const MALFORMED = 0.04;
const REPEATED = 0.15;
const OVERLAPPING = 0.2;
const KEYED = 0.6;
const CARELESS = 0.1;
const FULL = 0.02;

/**
 * Clients that send fresh, overlapping, repeated and malformed batches, with ids in other letter case and
 * duplicates. Most of them repeat a batch until they get a response, a share sends only once.
 */
class BatchLoad extends Senders {
  responded = 0;
  private readonly ids = new Map<string, string[]>();
  private readonly last = new Map<number, SentBatch>();
  private readonly responses = new EventEmitter();

  constructor(
    private readonly service: ServiceProcess,
    private readonly books: EventBooks,
    verdict: Verdict,
  ) {
    super(verdict, PAUSE_MS, GIVE_UP_MS);
  }

  /** Resolves to true at the next 202, or to false when none arrives in time. */
  next202(withinMs: number): Promise<boolean> {
    return once(this.responses, '202', { signal: AbortSignal.timeout(withinMs) }).then(
      () => true,
      () => false,
    );
  }

  protected override async round(client: number): Promise<void> {
    const { merchant, secondMerchant, port } = this.service;
    const who = client % 2 === 0 ? merchant : secondMerchant;
    const line = this.lineOf(client, port);
    const last = Math.random() < REPEATED ? this.last.get(client) : undefined;
    const batch = last ?? this.draft(who.apiKey);
    const key = Math.random() < KEYED ? randomUUID() : null;
    const send = (): Promise<Responded> =>
      line.send(key === null ? signed(who, 'POST', PATH, batch.body) : keyed(who, PATH, batch.body, key));
    const response =
      Math.random() < CARELESS
        ? await this.attempt('batch', send)
        : await this.untilFinal('batch', [batch.malformed ? 400 : 202], send);
    if (response?.status === 202) this.accepted(batch);
    if (!batch.malformed) this.last.set(client, batch);
  }

  private draft(merchantId: string): SentBatch {
    const size = Math.random() < FULL ? 1000 : Math.ceil(between(0, 30));
    const ids = Array.from({ length: size }, () => randomUUID() as string);
    const known = this.ids.get(merchantId) ?? [];
    if (Math.random() < OVERLAPPING && known.length > 0) {
      for (let place = 0; place < size; place += 2) ids[place] = oneOf(known).toUpperCase();
      ids[size - 1] = ids[0]!.toLowerCase();
    }
    if (Math.random() < MALFORMED) {
      const spoil = (items: object[]): unknown =>
        items.with(-1, { ...items.at(-1), event_datetime: '2026-02-30' });
      return this.books.batch(merchantId, ids, spoil);
    }
    this.ids.set(merchantId, [...known, ...ids.slice(0, 4)].slice(-REMEMBERED));
    return this.books.batch(merchantId, ids);
  }

  private accepted(batch: SentBatch): void {
    batch.respondedAt ??= performance.now();
    this.responded += 1;
    this.responses.emit('202');
  }
}

const CLIENTS = 12;
const BETWEEN_KILLS_MS = [50, 800] as const;
/** The share of kills that hit a starting service. */
const DURING_START = 0.1;
const RESPONSES_WITHIN_MS = 60_000;
/** A killed forwarder is replaced after 16 s; its backlog and the provider's pauses add to that. */
const SETTLE_MS = 180_000;
/** The bound of all kills, as a multiple of those that count. */
const MAX_KILLS_PER_COUNT = 3;

/**
 * Kills with `kill -9` as soon as a batch got its 202, under the load of two merchants. A kill counts when it
 * leaves accepted batches that are not processed. In the end each accepted event is stored once and forwarded
 * with its id, and no batch is stuck.
 */
export const events: Suite = async (options) => {
  const { count, verdict, say, kill } = options;
  const books = new EventBooks();
  await Shared.run(async (shared) => {
    const harness = await EventsHarness.open(shared);
    const { service } = harness;
    const load = new BatchLoad(service, books, verdict);
    shared.ends.add(() => load.abandon());
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
  });
};

/** Kills at the next 202, counts the remaining batches, and restarts the process. */
async function strike(
  { shared, service, worker }: EventsHarness,
  load: BatchLoad,
  victim: EventVictim,
  { verdict }: SuiteOptions,
  countLeft: () => Promise<string>,
): Promise<string> {
  const kills: Readonly<Record<EventVictim, readonly (() => Promise<unknown>)[]>> = {
    service: [() => service.kill()],
    worker: [() => worker.kill()],
    both: [() => service.kill(), () => worker.kill()],
    postgres: [() => shared.killPostgres()],
  };
  const responded = await load.next202(RESPONSES_WITHIN_MS);
  verdict.expect(responded, `batches get a response within ${RESPONSES_WITHIN_MS / 1000} s`);
  if (!responded) throw new Error(`no responses:\n${service.lastWords()}`);
  await Promise.all(kills[victim].map((each) => each()));
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
