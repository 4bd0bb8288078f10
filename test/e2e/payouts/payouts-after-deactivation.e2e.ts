import { afterAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { EventCodec } from '../../../src/platform/event-store/event-codec.js';
import { openEventStoreDb } from '../../../src/platform/event-store/eventstoredb/eventstoredb-event-store.js';
import { InMemoryEventStore } from '../../support/in-memory-event-store.js';
import type { EventStore, JsonObject, RecordedEvent } from '../../../src/platform/event-store/port.js';
import { CommandLoop } from '../../../src/platform/event-store/command-loop.js';
import { ALL_CONTEXTS } from '../../../src/composition.js';
import { knownEvents } from '../../../src/platform/context.js';
import { DomainError } from '../../../src/kernel/domain-error.js';
import { newId } from '../../../src/kernel/ids.js';
import {
  PayeeCache,
  ReportPayout,
  ReportPayoutHandler,
} from '../../../src/contexts/payouts/payouts/payouts.commands.js';
import type { Database } from '../../../src/platform/postgres/database.js';
import type { CommandBus } from '@nestjs/cqrs';
import { DeactivationsProcessor } from '../../../src/contexts/payouts/deactivation/deactivations.processor.js';
import { Deactivations } from '../../../src/contexts/payouts/deactivation/deactivations.store.js';
import {
  CompleteDeactivationHandler,
  StartDeactivation,
  StartDeactivationHandler,
} from '../../../src/contexts/users/users/users.commands.js';
import { payoutViews } from '../../../src/contexts/payouts/payouts/payouts-projection.view.js';
import { ACT, plainTicket } from '../../support/onboarding/people.js';
import { Steps } from './steps.js';
import { onTestDatabase, type TestDatabase } from '../../support/postgres.js';
import { chainConfig } from '../../../src/platform/config/config.js';
import { payoutsConfig } from '../../../src/contexts/payouts/payouts.config.js';

const REPORTERS = 2;
/** Actors after the reporters: start, count, outcomes, and two workers that complete the deactivation. */
const [STARTER, SAGA, VERIFIER, WORKER, OTHER_WORKER] = [2, 3, 4, 5, 6] as const;
const ACTORS = 7;
const ROUNDS = 5;
const AT = '2026-01-02T03:04:05.000Z';
const clock = { now: () => new Date() };
const eventStoreDb = process.env['EVENTSTOREDB_URL'];

interface Story {
  readonly scheduler: fc.Scheduler;
  /** Killed actors and their steps. Another process repeats a killed report. */
  readonly kills: readonly (readonly [number, number])[];
  /** Stalling actors and their steps. */
  readonly stalls: readonly (readonly [number, number])[];
  /** Reports of one payout under one key, in place of two payouts. */
  readonly sameKey: boolean;
}
const step = fc.tuple(fc.constantFrom(0, 1, WORKER), fc.integer({ min: 1, max: 16 }));
const stories: fc.Arbitrary<Story> = fc.record({
  scheduler: fc.scheduler(),
  kills: fc.array(step, { maxLength: 2 }),
  stalls: fc.array(step, { minLength: 1, maxLength: 3 }),
  sameKey: fc.boolean(),
});

class World {
  readonly userId = newId();
  readonly merchantId = newId();
  private counted: string | null;

  private constructor(
    readonly store: EventStore,
    readonly db: TestDatabase,
    private readonly since: string | null,
  ) {
    this.counted = since;
  }

  static async begin(store: EventStore, db: TestDatabase): Promise<World> {
    const world = new World(store, db, await store.head());
    const user_id = world.userId;
    // Complete events, because services of other tests may read the same log.
    const person = { external_id: null, phone_number: null, email: null, created_at: AT };
    const merchant_id = world.merchantId;
    await world.append(`user-${user_id}`, 'user.created.v1', { user_id, merchant_id, ...person });
    return world;
  }

  async report(payoutId: string, store = this.store): Promise<void> {
    const loop = loopOver(store);
    const payees = new PayeeCache(loop);
    await payees.get(this.userId);
    const { merchantId: merchant_id, userId: user_id } = this;
    const facts = { amount: '1.5', transaction_hash: payoutId, custom_metadata: '{}' };
    const command = new ReportPayout({ merchant_id, user_id, ...facts }, plainTicket(payoutId), {});
    const config = { ...payoutsConfig({}), payoutVerificationWindowSeconds: 60 };
    const chain = chainConfig({ CHAIN_ID: '1' });
    await new ReportPayoutHandler(loop, clock, config, chain, payees).execute(command);
  }

  async appendReport(payout_id: string): Promise<void> {
    const data = { payout_id, merchant_id: this.merchantId, user_id: this.userId, amount: '1.5' };
    const facts = { currency_code: 'USDC', transaction_hash: payout_id, custom_metadata: '{}', chain_id: 1 };
    const times = { created_at: AT, expires_at: AT };
    await this.append(`payout-${payout_id}`, 'payout.reported.v1', { ...data, ...facts, ...times });
  }

  announce(payout_id: string): Promise<void> {
    return this.append(`payout_intent-${payout_id}`, 'payout.intended.v1', {
      payout_id,
      user_id: this.userId,
    });
  }

  start(store = this.store): Promise<unknown> {
    return new StartDeactivationHandler(loopOver(store), clock).execute(
      new StartDeactivation(this.userId, {}, { id: 'operation', ...ACT }),
    );
  }

  /** Applies new events like the subscription, each twice. */
  async count(store = this.store): Promise<void> {
    const page = await store.readAll(this.counted, 1000);
    const events = page.filter(({ type, data }) => payoutViews.events.includes(type) && this.isOurs(data));
    for (let time = 0; time < 2 && events.length > 0; time += 1)
      await this.db.database.transaction((tx) => payoutViews.apply(events, tx));
    this.counted = page.at(-1)?.position ?? this.counted;
  }

  /** Runs one attempt of the worker. Returns false if the deactivation cannot be completed yet. */
  async complete(store = this.store, database: Pick<Database, 'query'> = this.db.database): Promise<boolean> {
    const users = new CompleteDeactivationHandler(loopOver(store), clock) as unknown as CommandBus;
    const worker = new DeactivationsProcessor(new Deactivations(database as Database), users, store);
    try {
      await worker.complete(this.userId);
      return true;
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      return false;
    }
  }

  async end(): Promise<void> {
    const events = await this.history();
    const ended = new Set(events.filter(({ type }) => type === 'payout.expired.v1').map(payoutOf));
    for (const event of events.filter(({ type }) => type === 'payout.reported.v1')) {
      const { created_at: _, expires_at, ...facts } = event.data;
      const data = { ...facts, reason: 'too late', expired_at: expires_at ?? AT };
      if (!ended.has(payoutOf(event))) await this.append(event.stream, 'payout.expired.v1', data, 0);
    }
  }

  async history(): Promise<readonly RecordedEvent[]> {
    return (await this.store.readAll(this.since, 10_000)).filter(({ data }) => this.isOurs(data));
  }

  private isOurs(data: JsonObject): boolean {
    return data['user_id'] === this.userId;
  }

  private async append(
    stream: string,
    type: string,
    data: JsonObject,
    expected: number | 'no_stream' = 'no_stream',
  ): Promise<void> {
    const events = [{ id: newId(), type, data, metadata: {} }];
    await this.store.commit({ appends: [{ stream, events, expected }] });
  }
}

const payoutOf = ({ data }: RecordedEvent): string => String(data['payout_id']);

const loopOver = (store: EventStore): CommandLoop =>
  new CommandLoop(store, new EventCodec().register(knownEvents(ALL_CONTEXTS)));

async function play(world: World, story: Story): Promise<readonly RecordedEvent[]> {
  const { scheduler, kills, stalls } = story;
  const steps = new Steps(scheduler, ACTORS, new Map(kills), new Map(stalls));
  const storeOf = (actor: number): EventStore => steps.storeOf(actor, world.store);
  const databaseOf = (actor: number): Pick<Database, 'query'> => ({
    query: (sql, params) => steps.call(actor, () => world.db.database.query(sql, params)),
  });
  const often = async (work: () => Promise<unknown>): Promise<void> => {
    for (let round = 0; round < ROUNDS; round += 1) await work();
  };
  const first = newId();
  const payouts = Array.from({ length: REPORTERS }, (_, n) => (n === 0 || story.sameKey ? first : newId()));
  const accepted = new Set<string>();
  const report = async (id: string, store?: EventStore): Promise<void> => {
    await world.report(id, store);
    accepted.add(id);
  };
  const playing = Promise.all([
    ...payouts.map((id, actor) => steps.act(() => report(id, storeOf(actor)))),
    steps.act(async () => void (await world.start(storeOf(STARTER)))),
    steps.act(() => often(() => world.count(storeOf(SAGA)))),
    steps.act(() => often(() => steps.call(VERIFIER, () => world.end()))),
    ...[WORKER, OTHER_WORKER].map((actor) =>
      steps.act(() => often(() => world.complete(storeOf(actor), databaseOf(actor)))),
    ),
  ]);
  const ends = await scheduler.waitFor(playing);
  // A process starts again, and clients repeat requests without a response.
  for (const id of payouts.filter((each) => !accepted.has(each))) ends.push(await report(id).catch(asIs));
  for (const error of ends.filter((each) => each !== null && each !== undefined)) {
    expect(['Killed', 'invalid_transition']).toContain(
      error instanceof DomainError ? error.code : (error as Error).name,
    );
  }
  for (let round = 0; round < 5; round += 1) {
    await world.end();
    await world.count();
    if (await world.complete()) break;
  }
  const events = await world.history();
  const reported = events.filter(({ type }) => type === 'payout.reported.v1').map(payoutOf);
  expect(reported.sort()).toEqual([...accepted].sort());
  return events;
}

const asIs = (error: unknown): unknown => error;

/** Returns the types of events after the deactivation, of which there may be none. */
function afterTheEnd(events: readonly RecordedEvent[]): readonly string[] {
  const types = events.map(({ type }) => type).filter((type) => type !== 'payout.intended.v1');
  expect(types).toContain('user.deactivated.v1');
  return types.slice(types.indexOf('user.deactivated.v1') + 1);
}

describe.each([
  ['in memory', Number(process.env['DEACTIVATION_RUNS'] ?? 60), () => new InMemoryEventStore(false)],
  ...(eventStoreDb === undefined
    ? []
    : [['EventStoreDB', 60, () => openEventStoreDb(eventStoreDb)] as const]),
] as const)('reports during a deactivation, on a store that is not atomic: %s,', (_, numRuns, open) => {
  const db = onTestDatabase();
  const store: EventStore = open();
  afterAll(() => store.close());

  it('no payout is reported after the end of a deactivation, even if a process stalls or is killed at any step', async () => {
    await fc.assert(
      fc.asyncProperty(stories, async (story) => {
        const world = await World.begin(store, db);
        expect(afterTheEnd(await play(world, story))).toEqual([]);
      }),
      { numRuns, endOnFailure: true, verbose: 1 },
    );
  });

  it('a deactivation ends only after each payout report is counted, and leaves no intents behind', async () => {
    const world = await World.begin(store, db);
    const [counted, late] = [newId(), newId()];
    await world.report(counted);
    await world.end();
    await world.announce(late);
    await world.start();
    await world.count();
    await world.appendReport(late);
    expect(await world.complete()).toBe(false);
    await world.end();
    await world.count();
    expect(await world.complete()).toBe(true);
    expect(afterTheEnd(await world.history())).toEqual([]);
    const left = await db.database.query('select from payouts.payout_intents where user_id = $1', [
      world.userId,
    ]);
    expect(left).toEqual([]);
  });
});
