import { randomBytes, randomUUID } from 'node:crypto';
import { reported } from '../bare/event.js';
import { compare } from '../harness/compare.js';
import { alternate, timed, type Sample } from '../harness/measure.js';
import type { Row, RowContext, RowOutcome } from '../harness/row.js';
import { LEDGER, ledgerFollower } from '../../src/contexts/audit/application/ledger-follower.js';
import { beginLedger } from '../../src/contexts/audit/store/ledger.js';
import { KNOWN_EVENTS, MIGRATIONS } from '../../src/composition.js';
import { payoutViews } from '../../src/contexts/payouts/views/projection.js';
import { AuthenticEventStore } from '../../src/platform/event-store/authentic-event-store.js';
import { Sealer } from '../../src/platform/sealing/sealer.js';
import { EventCodec } from '../../src/platform/event-store/event-codec.js';
import { EventRegistry } from '../../src/platform/event-store/event-registry.js';
import type { EventStore, NewEvent } from '../../src/platform/event-store/port.js';
import { PostgresEventStore } from '../../src/platform/event-store/postgres/postgres-event-store.js';
import { Database } from '../../src/platform/postgres/database.js';
import type { SubscriptionDefinition } from '../../src/platform/projections/projection.js';
import { Checkpoints } from '../../src/platform/projections/checkpoints.js';
import { PassingTypes } from '../../src/platform/projections/passing-types.js';
import { SubscriptionRegistry } from '../../src/platform/projections/subscription-registry.js';
import { SubscriptionRunner } from '../../src/platform/projections/subscription-runner.js';
import { ViewProgress } from '../../src/platform/projections/view-progress.js';

const NAME = 'ledger';
const PATIENCE_MS = 600_000;

/** Appends while the ledger follows them, beside the same appends alone. */
export const ledgerRow: Row = {
  name: NAME,
  title: 'appends while every event becomes a leaf of the ledger',
  run: runLedger,
};

async function runLedger({ options, environment, checks, progress }: RowContext): Promise<RowOutcome> {
  const url = await environment.database(NAME);
  const database = await Database.connect({ url, poolSize: 8, migrations: MIGRATIONS });
  const plain = new PostgresEventStore(database.pool);
  const sealer = new Sealer(randomBytes(32));
  const store = new AuthenticEventStore(plain, sealer);
  const logId = await store.identity();
  // One that a service of another row began has the MAC of that service's keys.
  await database.query('delete from audit.ledger');
  await database.transaction((tx) => beginLedger(tx, logId, sealer));
  const behind: number[] = [];
  /** Nothing else is done in this process or in PostgreSQL: what the ledger takes shows at its largest. */
  const append = async (into: EventStore = store): Promise<Sample> => {
    const units = options.connections * options.appends;
    const events = Array.from({ length: units }, payoutEvent);
    await environment.checkpoint();
    const seconds = await timed(() =>
      Promise.all(
        Array.from({ length: options.connections }, async (_, writer) => {
          for (let place = writer; place < units; place += options.connections) {
            const { stream, event } = events[place]!;
            await into.commit({ appends: [{ stream, events: [event], expected: 'no_stream' }] });
          }
        }),
      ),
    );
    return { units, seconds };
  };
  const views = (): SubscriptionDefinition[] => [payoutViews];
  /** Appends while these subscriptions follow; what came without them is caught up with first. */
  const followedBy = async (definitions: readonly SubscriptionDefinition[]): Promise<Sample> => {
    const { runner, progress: reached } = running(database, store, definitions);
    runner.start();
    const caughtUp = async (): Promise<void> => {
      const head = await store.head();
      for (const { name } of definitions)
        if (!(await reached.reached(name, head))) throw new Error(`${name} did not catch up`);
    };
    await caughtUp();
    const before = await sizeOf(database);
    const sample = await append();
    const isFollowed = definitions.some(({ name }) => name === LEDGER);
    if (isFollowed) behind.push(before + sample.units - (await sizeOf(database)));
    await caughtUp();
    await runner.stop();
    return sample;
  };
  const ledger = (): SubscriptionDefinition => ledgerFollower(store, sealer, UNGUARDED, async () => null);
  const samples = await alternate(
    [
      { name: 'views and ledger', run: () => followedBy([...views(), ledger()]) },
      { name: 'views', run: () => followedBy(views()) },
      { name: 'ledger', run: () => followedBy([ledger()]) },
      { name: 'alone', run: () => append() },
    ],
    options.rounds,
    progress,
    4,
  );
  // Last, for nothing can follow events without MACs: in pairs, with none of the service's other work to hide the MACs.
  const macs = await alternate(
    [
      { name: 'with MACs', run: () => append() },
      { name: 'without', run: () => append(plain) },
    ],
    options.rounds,
    progress,
    4,
  );
  await database.query(`delete from event_store.events where metadata not like '%"mac":%'`);
  await followedBy([ledger()]);
  const [counted] = await database.query<{ events: number; leaves: number }>(
    `select (select count(*) from event_store.events)::int as events, (select count(*) from audit.leaves)::int as leaves`,
  );
  checks.equal('leaves', counted!.leaves, counted!.events);
  const [{ bytes }] = (await database.query(
    `select pg_total_relation_size('audit.leaves') / greatest(1, count(*)) as bytes from audit.leaves`,
  )) as [{ bytes: string }];
  await store.close();
  await database.close();
  return {
    comparisons: [
      compare(samples, {
        label: 'beside a worker that keeps the read models of payouts',
        subject: 'views and ledger',
        reference: 'views',
        goal: { atLeast: 0.75 },
      }),
      compare(samples, {
        label: 'alone, beside appends that nobody follows',
        subject: 'ledger',
        reference: 'alone',
        goal: { atLeast: 0.55 },
      }),
      compare(macs, {
        label: 'appends with MACs, beside appends without',
        subject: 'with MACs',
        reference: 'without',
        goal: { atLeast: 0.95 },
      }),
    ],
    notes: [
      `${options.connections * options.appends} appends per variant and turn, of ${options.connections} writers`,
      `at the end of the appends the ledger was ${Math.max(...behind)} events behind at most`,
      `${bytes} bytes an event in audit.leaves, indexes included`,
    ],
  };
}

/** Nobody changes this ledger. */
const UNGUARDED = { guard: <T>(_: string, work: () => Promise<T>): Promise<T> => work() };

async function sizeOf(database: Database): Promise<number> {
  const [row] = await database.query<{ size: string }>('select size from audit.ledger');
  return Number(row?.size ?? 0);
}

function payoutEvent(): { readonly stream: string; readonly event: NewEvent } {
  const body = {
    user_id: randomUUID(),
    payout: { amount: '12.5', transaction_hash: `0x${randomUUID().replaceAll('-', '').repeat(2)}` },
  };
  const { event } = reported(randomUUID(), body, new Date());
  const { id, type, stream, data } = event;
  const metadata = { request_id: randomUUID(), merchant_id: randomUUID() };
  return { stream, event: { id, type, data: JSON.parse(data) as NewEvent['data'], metadata } };
}

/** The service's own runner with these subscriptions. */
function running(
  database: Database,
  store: EventStore,
  definitions: readonly SubscriptionDefinition[],
): { readonly runner: SubscriptionRunner; readonly progress: ViewProgress } {
  const registry = new SubscriptionRegistry();
  registry.register(...definitions);
  const checkpoints = new Checkpoints(database);
  const keys = { obtain: async () => null, find: async () => new Map() };
  const events = new EventRegistry();
  events.register(KNOWN_EVENTS);
  const codec = new EventCodec(events, keys);
  const progress = new ViewProgress(checkpoints, registry, codec, store, { readYourWritesMs: PATIENCE_MS });
  const roles = { roles: ['worker' as const] };
  const passing = new PassingTypes(database);
  const runner = new SubscriptionRunner(registry, checkpoints, codec, progress, store, roles, passing);
  return { runner, progress };
}
