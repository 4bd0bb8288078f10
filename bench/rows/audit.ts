import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { timed } from '../harness/measure.js';
import type { Row, RowContext, RowOutcome } from '../harness/row.js';
import { withEventMacs } from '../support/event-macs.js';
import { SEED_AUDITED, SEED_USERS } from '../seed/audited-sql.js';
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
const CLI = 'dist/cli.js';
/** A program that held the log in memory would need this for half of it. */
const MAX_MIB = 400;

/** What auditors do with a whole log, each as the program that they run: its memory does not grow with the log. */
export const auditRow: Row = {
  name: 'audit',
  title: 'memory of rebuild, export and verify of a whole log',
  run: runAudit,
};

async function runAudit({ environment, options, checks, progress }: RowContext): Promise<RowOutcome> {
  progress(`${options.audited} events`);
  const url = await environment.database(NAME);
  const events = await seed(url, options.audited);
  const dir = environment.folder(NAME);
  const notes: string[] = [`${events} events`];
  const run = async (name: string, args: readonly string[], end = 'exit code 0'): Promise<void> => {
    progress(name);
    const env = { DATABASE_URL: url, MASTER_KEY: MASTER_KEY.toString('hex') };
    const child = environment.children.start({ name, args: [CLI, ...args], env, dir });
    let peak = 0;
    const seconds = await timed(async () => {
      for (; child.exited() === null; await sleep(20)) peak = Math.max(peak, peakMiB(child.pid));
    });
    checks.equal(`${name} ends with`, child.exited(), end);
    if (child.exited() !== end) progress(lastWords(child.log));
    checks.equal(`${name} stays under ${MAX_MIB} MiB`, peak < MAX_MIB, true);
    notes.push(`${name}: ${peak} MiB at most, ${seconds.toFixed(1)} s`);
  };
  const out = join(dir, 'export');
  await run('rebuild', ['rebuild']);
  await run('export', ['audit', 'export', '--out', out]);
  const manifest = JSON.parse(readFileSync(join(out, 'manifest.json'), 'utf8')) as { events: number };
  checks.equal('events exported', manifest.events, events);
  // The log of the bench has no ledger: a verify of it is in order, and unproven.
  await run('verify', ['audit', 'verify'], 'exit code 1');
  await run('offline', ['audit', 'verify', '--from', out, '--offline'], 'exit code 1');
  return { comparisons: [], notes };
}

/** How many events it wrote. */
async function seed(url: string, count: number): Promise<number> {
  const database = await Database.connect({ url, poolSize: 1, migrations: MIGRATIONS });
  const { pool } = database;
  const merchant = randomUUID();
  try {
    await pool.query(EVENT_FORMS);
    const payouts = Math.round((count - 2 * USERS) / EVENTS_OF_PAYOUT);
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
