import pg from 'pg';
import { once } from 'node:events';
import { from as copyFrom } from 'pg-copy-streams';
import { compare } from '../harness/compare.js';
import { alternate, timed } from '../harness/measure.js';
import { row, expectEqual } from '../harness/row.js';
import { count } from '../support/count.js';
import { LEDGER, ledger, rebuildPayouts } from '../seed/ledger.js';
import { toMinorUnits } from '../../src/kernel/money.js';
import {
  comparableHash,
  type PayoutExpired,
  type PayoutReceived,
  type PayoutReported,
} from '../../src/contexts/payouts/payouts.contract.js';

/** Events per read, and bytes per write to the COPY stream. */
const BATCH = 5000;
const CHUNK = 1 << 20;

/** Tables like the service's in the schema `bench`, with the same indexes. */
const FRESH_TABLES = `
create schema if not exists bench;
drop table if exists bench.payouts, bench.balances;
create table bench.payouts (like payouts.payouts including storage);
create table bench.balances (like payouts.balances including defaults);
`;

const INDEXES = `
alter table bench.payouts add primary key (id);
create index on bench.payouts (merchant_id, status, created_at desc, id desc);
create index on bench.payouts (user_id, status, created_at desc, id desc);
create index on bench.payouts (status, created_at desc, id desc);
create index on bench.payouts (hashtextextended(transaction_hash, 0));
alter table bench.balances add primary key (user_id);
analyze bench.payouts;
analyze bench.balances;
`;

type Facts = PayoutReported['data'] & Partial<PayoutReceived['data'] & PayoutExpired['data']>;
type EventRow = [position: string, type: string, data: string];

interface Folded {
  readonly facts: Facts;
  readonly minor: bigint;
  status: 0 | 1 | 2;
  end: Facts | null;
}

interface Totals {
  readonly merchantId: string;
  confirmed: bigint;
  pending: bigint;
}

/**
 * The fastest known build of the payouts' read models, without regard for memory or readers. It folds the
 * whole history in memory, copies it into fresh tables and creates the indexes. Returns the number of events.
 */
async function foldAndCopy(client: pg.Client): Promise<number> {
  const payouts = new Map<string, Folded>();
  const balances = new Map<string, Totals>();
  const events = await fold(client, payouts, balances);
  await client.query('begin');
  await client.query(`set local maintenance_work_mem = '256MB'`);
  await client.query(FRESH_TABLES);
  await copy(client, 'bench.payouts', payoutLines(payouts));
  await copy(client, 'bench.balances (user_id, merchant_id, confirmed, pending)', balanceLines(balances));
  await client.query(INDEXES);
  await client.query('commit');
  return events;
}

async function fold(client: pg.Client, payouts: Map<string, Folded>, balances: Map<string, Totals>) {
  let count = 0;
  let after = '-1';
  for (;;) {
    const { rows } = await client.query<EventRow>({
      name: 'history',
      text: `select position, type, data from event_store.events where position > $1 order by position limit ${BATCH}`,
      values: [after],
      rowMode: 'array',
    });
    if (rows.length === 0) return count;
    for (const [, type, data] of rows) apply(type, data, payouts, balances);
    count += rows.length;
    after = rows.at(-1)![0];
  }
}

function apply(
  type: string,
  data: string,
  payouts: Map<string, Folded>,
  balances: Map<string, Totals>,
): void {
  if (type === 'user.created.v1') {
    const user = JSON.parse(data) as { user_id: string; merchant_id: string };
    balances.set(user.user_id, { merchantId: user.merchant_id, confirmed: 0n, pending: 0n });
  } else if (type === 'payout.reported.v1') {
    const facts = JSON.parse(data) as Facts;
    const minor = toMinorUnits(facts.amount);
    payouts.set(facts.payout_id, { facts, minor, status: 0, end: null });
    balances.get(facts.user_id)!.pending += minor;
  } else if (type === 'payout.received.v2' || type === 'payout.expired.v1') {
    const facts = JSON.parse(data) as Facts;
    const row = payouts.get(facts.payout_id)!;
    const totals = balances.get(facts.user_id)!;
    totals.pending -= row.minor;
    if (type === 'payout.received.v2') totals.confirmed += row.minor;
    row.status = type === 'payout.received.v2' ? 1 : 2;
    row.end = facts;
  }
}

const STATUS = ['pending', 'received', 'expired'] as const;

function* payoutLines(payouts: Map<string, Folded>): Generator<string> {
  for (const { facts, minor, status, end } of payouts.values()) {
    const body =
      `{"id":"${facts.payout_id}","user_id":"${facts.user_id}","amount":"${facts.amount}",` +
      `"currency_code":"${facts.currency_code}","status":"${STATUS[status]}",` +
      `"transaction_hash":${JSON.stringify(facts.transaction_hash)},"reason":${JSON.stringify(end?.reason ?? null)},` +
      `"custom_metadata":${facts.custom_metadata},"created_at":"${facts.created_at}"}`;
    yield `${facts.payout_id}\t${facts.merchant_id}\t${facts.user_id}\t${status}\t${facts.created_at}\t${minor}\t${escaped(comparableHash(facts.transaction_hash))}\t${end?.log_index ?? '\\N'}\t${escaped(body)}\n`;
  }
}

function* balanceLines(balances: Map<string, Totals>): Generator<string> {
  for (const [userId, { merchantId, confirmed, pending }] of balances) {
    yield `${userId}\t${merchantId}\t${confirmed}\t${pending}\n`;
  }
}

function escaped(text: string): string {
  return /[\\\n\r\t]/.test(text)
    ? text.replace(/[\\\n\r\t]/g, (c) => ({ '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' })[c]!)
    : text;
}

async function copy(client: pg.Client, table: string, lines: Iterable<string>): Promise<void> {
  const stream = client.query(copyFrom(`copy ${table} from stdin`));
  let chunk = '';
  for (const line of lines) {
    chunk += line;
    if (chunk.length < CHUNK) continue;
    if (!stream.write(chunk)) await once(stream, 'drain');
    chunk = '';
  }
  stream.end(chunk);
  await once(stream, 'finish');
}

export const rebuildRow = row(
  'rebuild',
  'rebuild of the read models of payouts and balances from the first event',
  async (context) => {
    const { environment, options } = context;
    const seeded = await ledger(context);
    const client = new pg.Client({ connectionString: await environment.database(LEDGER) });
    await client.connect();
    const pool = await environment.pool(LEDGER);
    const relevant = `event_store.events where type like 'payout.%' or type = 'user.created.v1'`;
    const events = await count(pool, relevant);
    try {
      const samples = await alternate(
        [
          {
            name: 'service',
            run: async () => {
              await environment.checkpoint();
              const rebuilt = await rebuildPayouts(environment, seeded);
              expectEqual('events that the rebuild applied', rebuilt.events, events);
              return { units: events, seconds: rebuilt.seconds };
            },
          },
          {
            name: 'fold',
            run: async () => {
              await environment.checkpoint();
              return { units: events, seconds: await timed(() => foldAndCopy(client)) };
            },
          },
        ],
        // Each round reads the whole history, so that a few suffice.
        Math.min(options.rounds, 5),
        context.progress,
      );
      context.progress('comparing the rows');
      for (const table of ['payouts', 'balances'])
        expectEqual(`rows of ${table} that differ from the reference`, await differences(pool, table), 0);
      expectEqual('payouts after the rebuilds', await count(pool, 'payouts.payouts'), options.payouts);
      return {
        comparisons: [
          compare(samples, {
            label: 'compared with a fold in memory, COPY into fresh tables, then indexes',
            subject: 'service',
            reference: 'fold',
            goal: { atLeast: 0.4 },
          }),
        ],
        notes: [`${events} events, ${options.payouts} payouts`],
      };
    } finally {
      await client.end();
    }
  },
);

/** Counts the rows that differ between the service's read model and the reference's (schema `bench`). */
const differences = (pool: pg.Pool, table: string): Promise<number> =>
  count(
    pool,
    `((table payouts.${table} except table bench.${table})
      union all (table bench.${table} except table payouts.${table})) different`,
  );
