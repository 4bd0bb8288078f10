import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { CATCHUP_TABLES, oneStatementPerBatch, STATEMENT_EVENTS } from '../bare/one-statement.js';
import { compare } from '../harness/compare.js';
import { alternate, timed, type Sample } from '../harness/measure.js';
import type { Row, RowContext, RowOutcome } from '../harness/row.js';
import { withEventMacs } from '../support/event-macs.js';
import { EVENT_FORMS, SEED_EVENTS } from '../seed/ledger-sql.js';
import { masterKeyOf, Views } from '../seed/views.js';
import { MIGRATIONS } from '../../src/composition.js';
import { Database } from '../../src/platform/postgres/database.js';
import { differences } from './same-rows.js';

const TEMPLATE = 'catchup';
const USERS = 200;
const TABLES = [
  'event_store.events',
  'payouts.payouts',
  'payouts.balances',
  'bench.payouts',
  'bench.balances',
];

/** The runner after a pause: everything between its checkpoint and the newest event. */
export const catchupRow: Row = {
  name: 'catchup',
  title: 'catching up with events that came while no worker ran',
  run: runCatchup,
};

interface Prepared {
  /** Position of the checkpoint, before the events to catch up with. */
  readonly from: string;
  readonly events: number;
}

async function runCatchup(context: RowContext): Promise<RowOutcome> {
  const { options, checks, environment } = context;
  const prepared = await prepare(context);
  let copies = 0;
  // Both variants work in the same copy of the prepared database, each on tables of its own, so that a round
  // starts from the same state and ends in rows that can be compared.
  let copy = '';
  let done = 0;
  const inCopy = async (work: (url: string) => Promise<number>): Promise<Sample> => {
    if (done % 2 === 0) {
      copies += 1;
      copy = `${TEMPLATE}_${copies}`;
      await environment.copyDatabase(TEMPLATE, copy);
      await warm(await environment.database(copy));
    }
    await environment.checkpoint();
    const seconds = await work(await environment.database(copy));
    done += 1;
    if (done % 2 === 0) {
      const pool = new pg.Pool({ connectionString: await environment.database(copy), max: 1 });
      checks.equal('rows that differ from the reference', await differences(pool), {
        payouts: 0,
        balances: 0,
      });
      await pool.end();
      await environment.dropDatabase(copy);
    }
    return { units: prepared.events, seconds };
  };
  const samples = await alternate(
    [
      { name: 'service', run: () => inCopy(caughtUpByService) },
      {
        name: 'statement',
        run: () =>
          inCopy(async (url) => {
            const client = new pg.Client({ connectionString: url });
            await client.connect();
            let applied = 0;
            const seconds = await timed(
              async () => (applied = await oneStatementPerBatch(client, prepared.from)),
            );
            await client.end();
            checks.equal('events that the reference applied', applied, prepared.events);
            return seconds;
          }),
      },
    ],
    options.rounds,
    context.progress,
  );
  return {
    comparisons: [
      compare(samples, {
        label: `beside one statement per ${STATEMENT_EVENTS} events`,
        subject: 'service',
        reference: 'statement',
        goal: { atLeast: 0.85 },
      }),
    ],
    notes: [`${prepared.events} events per variant and round`],
  };
}

/** Brings the tables of a fresh copy into memory: the variant that comes first shall not pay for the disk. */
async function warm(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const table of TABLES) await client.query(`select count(*) from ${table} t where length(t::text) = 0`);
  await client.end();
}

async function caughtUpByService(url: string): Promise<number> {
  const views = await Views.open(url, null);
  const seconds = await timed(() => views.catchUp());
  await views.close();
  return seconds;
}

/** A migrated database with the read models as they were `catchup` events ago. */
async function prepare({ environment, options, progress }: RowContext): Promise<Prepared> {
  progress('events to catch up with');
  const url = await environment.database(TEMPLATE);
  const database = await Database.connect({ url, poolSize: 4, migrations: MIGRATIONS });
  const merchant = randomUUID();
  const users = Array.from({ length: USERS }, () => randomUUID());
  await withEventMacs(url, masterKeyOf(null), async () => {
    await database.query(
      `insert into event_store.events (position, stream, revision, id, type, data, metadata, recorded_at)
     select nextval('event_store.position'), 'user-' || u, 0, gen_random_uuid(), 'user.created.v1',
       json_build_object('user_id', u, 'merchant_id', $2::text, 'external_id', null, 'phone_number', null, 'email', null,
         'created_at', bench_now), '{}', now()
     from unnest($1::text[]) u, lateral (select to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as bench_now) t`,
      [users, merchant],
    );
    await database.query(EVENT_FORMS);
    await database.query(SEED_EVENTS, [options.catchup, merchant, users, options.catchup / 10, 10_000]);
  });
  const [split] = await database.query<{ position: string; last: string }>(
    `select position, (select max(position) from event_store.events) as last from event_store.events
     order by position desc offset $1 limit 1`,
    [options.catchup],
  );
  await database.query(`create table bench.later as select * from event_store.events where position > $1`, [
    split!.position,
  ]);
  await database.query('delete from event_store.events where position > $1', [split!.position]);
  const views = await Views.open(url, null);
  await views.rebuild();
  await views.close();
  await database.query('insert into event_store.events select * from bench.later order by position');
  await database.query('drop table bench.later');
  await database.query(`select setval('event_store.position', $1)`, [split!.last]);
  await database.query(CATCHUP_TABLES);
  for (const table of TABLES) await database.query(`vacuum analyze ${table}`);
  await database.close();
  return { from: split!.position, events: options.catchup };
}
