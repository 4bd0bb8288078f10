import { randomUUID } from 'node:crypto';
import { createWriteStream, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { compare } from '../harness/compare.js';
import { alternate, timed } from '../harness/measure.js';
import type { Row, RowContext, RowOutcome } from '../harness/row.js';
import { withEventMacs } from '../support/event-macs.js';
import { FOLD, SEED_AUDITED, SEED_USERS } from '../seed/audited-sql.js';
import { EVENT_FORMS } from '../seed/ledger-sql.js';
import { lastWords } from '../support/children.js';
import { peakMiB } from '../support/memory.js';
import { MIGRATIONS } from '../../src/composition.js';
import { Database } from '../../src/platform/postgres/database.js';

const MASTER_KEY = Buffer.alloc(32, 0x11);
const NAME = 'audited';
const USERS = 1000;
/** Of a payout, in the mean: its report, its claim and its outcome. */
const EVENTS_OF_PAYOUT = 2.7;
const CLI = 'dist/src/cli.js';

/** What auditors do with a whole log: each as the program that they run, start and all. */
export const auditRow: Row = {
  name: 'audit',
  title: 'export, verify and rebuild of a whole log',
  run: runAudit,
};

async function runAudit(context: RowContext): Promise<RowOutcome> {
  const { environment, options, checks } = context;
  context.progress(`audit: ${options.audited} events`);
  const url = await environment.database(NAME);
  const events = await seed(url, options.audited);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const dir = environment.folder(NAME);
  mkdirSync(dir, { recursive: true });
  const peaks: Record<string, number> = {};
  const program = async (name: string, ...args: string[]): Promise<string> => {
    const env = { DATABASE_URL: url, MASTER_KEY: MASTER_KEY.toString('hex') };
    const child = environment.children.start({ name, args: [CLI, ...args], env, dir });
    while (child.exited() === null) {
      peaks[name] = Math.max(peaks[name] ?? 0, peakMiB(child.pid));
      await sleep(20);
    }
    const said = readFileSync(child.log, 'utf8');
    // The log of the bench has no ledger: a verify of it is in order, and unproven.
    const expected = args.includes('verify') ? 'exit code 1' : 'exit code 0';
    checks.equal(`${name} ends with`, child.exited(), expected);
    if (child.exited() !== expected) context.progress(lastWords(child.log));
    return said;
  };
  try {
    context.progress('audit: read models');
    const rebuilt = await timed(() => program('rebuild', 'rebuild'));
    const variants = [
      {
        name: 'export',
        run: async () => {
          const out = join(dir, randomUUID());
          const seconds = await timed(() => program('export', 'audit', 'export', '--out', out));
          const { events: exported } = JSON.parse(readFileSync(join(out, 'manifest.json'), 'utf8')) as {
            events: number;
          };
          checks.equal('events exported', exported, events);
          rmSync(out, { recursive: true });
          return { units: events, seconds };
        },
      },
      {
        name: 'copy',
        run: async () => {
          const file = join(dir, 'copy');
          const rows = client.query(copyTo('copy event_store.events to stdout'));
          return { units: events, seconds: await timed(() => pipeline(rows, createWriteStream(file))) };
        },
      },
      {
        name: 'verify',
        run: async () => ({
          units: events,
          seconds: await timed(() => program('verify', 'audit', 'verify')),
        }),
      },
      {
        name: 'fold',
        run: async () => {
          let users = 0;
          const seconds = await timed(async () => (users = (await client.query(FOLD)).rows.length));
          checks.equal('users of the fold', users, USERS);
          return { units: events, seconds };
        },
      },
    ];
    const samples = await alternate(variants, Math.min(options.rounds, 3), context.progress);
    const out = join(dir, 'offline');
    await program('export', 'audit', 'export', '--out', out);
    const offline = await timed(() => program('offline', 'audit', 'verify', '--from', out, '--offline'));
    for (const [name, most] of Object.entries({ export: 300, verify: 300, offline: 300 }))
      checks.equal(`${name} stays under ${most} MiB`, (peaks[name] ?? Infinity) < most, true);
    const per = (name: string): string => {
      const rates = samples.get(name)!.map(({ units, seconds }) => units / seconds);
      return `${name} ${Math.round(Math.max(...rates))} events/s at best`;
    };
    return {
      comparisons: [
        compare(samples, {
          label: 'export beside COPY of the same table',
          subject: 'export',
          reference: 'copy',
          goal: { atLeast: 0.5 },
        }),
        compare(samples, {
          label: 'verify beside a fold of the payouts in one statement',
          subject: 'verify',
          reference: 'fold',
          goal: { atLeast: 0.5 },
        }),
      ],
      notes: [
        `${events} events; ${['export', 'copy', 'verify', 'fold'].map(per).join(', ')}`,
        `rebuild of every read model ${rebuilt.toFixed(1)} s, verify of an export offline ${offline.toFixed(1)} s`,
        `peak resident MiB: ${Object.entries(peaks)
          .map(([name, peak]) => `${name} ${peak}`)
          .join(', ')}`,
      ],
    };
  } finally {
    await client.end();
  }
}

/** How many events it made. */
export async function seed(url: string, wanted: number): Promise<number> {
  const database = await Database.connect({ url, poolSize: 1, migrations: MIGRATIONS });
  const { pool } = database;
  const merchant = randomUUID();
  try {
    await pool.query(EVENT_FORMS);
    const payouts = Math.round((wanted - 2 * USERS) / EVENTS_OF_PAYOUT);
    await withEventMacs(url, MASTER_KEY, async () => {
      await pool.query(SEED_USERS, [USERS, merchant]);
      await pool.query(SEED_AUDITED, [USERS, payouts, merchant]);
    });
    const { rows } = await pool.query<{ events: number }>(
      `select count(*)::int as events, setval('event_store.position', max(position)) from event_store.events`,
    );
    await pool.query('vacuum analyze event_store.events');
    return rows[0]!.events;
  } finally {
    await database.close();
  }
}
