import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { eventually } from '../../../bench/support/wait.js';
import { victimOf } from '../support/postgres-victim.js';
import type { ReportLoad } from '../support/report-load.js';
import type { Sandbox } from '../support/sandbox.js';
import { storm } from '../support/storm.js';
import { between, oneOf, seconds, type Suite, type SuiteOptions } from '../support/suite.js';
import { Worker } from '../support/webhooks/worker.js';

/** What a process that stands still may hold others up: 10 s in a transaction, and what a busy machine adds. */
const BOUND_MS = 25_000;
/** A process caught in a transaction stands still for longer than that, unless told otherwise. */
const LONG_SECONDS = 30;
const ROLES = ['worker', 'api', 'api,worker'] as const;
/** How often a process is stopped in the hope of catching it in a transaction. */
const TRIES = 150;

/**
 * SIGSTOP and SIGCONT of processes beside one under load: a worker, an API process, one that is both, each where it can
 * be caught inside a transaction, then the PostgreSQL server or one of its backends.
 */
export const standstill: Suite = async (options) => {
  const others: Worker[] = [];
  let blows = 0;
  try {
    await storm(options, async (sandbox, load) => {
      blows += 1;
      if (blows % 4 === 0) return stopPostgres(sandbox, load, options);
      if (others.length === 0) others.push(...(await start(sandbox)));
      return stopProcess(oneOf(others), sandbox, load, options);
    });
  } finally {
    await Promise.all(others.map((each) => each.kill().catch(() => undefined)));
  }
};

async function start(sandbox: Sandbox): Promise<Worker[]> {
  const secrets = JSON.parse(readFileSync(join(sandbox.dir, 'secrets.json'), 'utf8')) as {
    master_key: string;
  };
  const { rpc_url: rpcUrl, usdc_address: usdcAddress } = sandbox.file.chain;
  const environment = {
    children: sandbox.children,
    folder: (name: string) => join(sandbox.dir, name),
    chain: async () => ({ rpcUrl, usdcAddress }),
  };
  const workers = ROLES.map(
    (roles) =>
      new Worker(environment, roles.replace(',', '-'), {
        ROLES: roles,
        DATABASE_URL: sandbox.databaseUrl,
        MASTER_KEY: secrets.master_key,
        ...sandbox.settings,
      }),
  );
  for (const worker of workers) await worker.spawn();
  for (const worker of workers) await worker.ready();
  return workers;
}

/** Whoever else works goes on within the bound, while the process still stands. */
async function stopProcess(
  victim: Worker,
  { pool }: Sandbox,
  load: ReportLoad,
  { verdict, sizes = {} }: SuiteOptions,
): Promise<string> {
  const caught = await stopInTransaction(victim.pid, pool);
  const began = performance.now();
  const until = began + (caught ? (sizes.seconds ?? LONG_SECONDS) * 1000 : between(500, 8000));
  try {
    const waited = await goesOn(pool, load);
    verdict.expect(waited < BOUND_MS, `nobody waits for ${victim.name}`, `${seconds(waited)}`);
    await sleep(Math.max(0, until - performance.now()));
    const where = caught ? 'in a transaction' : 'outside of one';
    return `${victim.name} stood still ${where} for ${seconds(performance.now() - began)}; the others went on after ${seconds(waited)}`;
  } finally {
    process.kill(victim.pid, 'SIGCONT');
  }
}

/** Stops the process; true when a session of its own is then in a transaction. */
async function stopInTransaction(pid: number, pool: pg.Pool): Promise<boolean> {
  for (let n = 0; n < TRIES; n += 1) {
    process.kill(pid, 'SIGSTOP');
    // A session of a process that runs has moved on by then.
    await sleep(120);
    const { rows } = await pool.query(
      `select from pg_stat_activity where application_name = 'disburse' and state = 'idle in transaction'
       and state_change < now() - interval '100 ms'`,
    );
    if (rows.length > 0) return true;
    if (n < TRIES - 1) process.kill(pid, 'SIGCONT');
    await sleep(between(1, 40));
  }
  return false;
}

async function stopPostgres(sandbox: Sandbox, load: ReportLoad, { verdict }: SuiteOptions): Promise<string> {
  const { pid, name } = victimOf(sandbox);
  const ms = between(200, 6000);
  process.kill(pid, 'SIGSTOP');
  await sleep(ms);
  process.kill(pid, 'SIGCONT');
  const waited = await goesOn(sandbox.pool, load);
  verdict.expect(
    waited < BOUND_MS,
    `all go on after ${name.trim()} of PostgreSQL stood still`,
    seconds(waited),
  );
  return `${name} of PostgreSQL stood still for ${seconds(ms)}; all went on after ${seconds(waited)}`;
}

/** How long until a report begun now is acknowledged, and every subscription has passed what was written by now. */
async function goesOn(pool: pg.Pool, load: ReportLoad): Promise<number> {
  const began = performance.now();
  const { rows } = await pool.query<{ head: string }>('select max(position) as head from event_store.events');
  await eventually(
    'the others go on',
    async () => {
      const behind = await pool.query(
        'select from event_store.checkpoints where position is null or position::bigint < $1',
        [rows[0]!.head],
      );
      return behind.rows.length === 0 && load.acknowledgedBegunAfter(began);
    },
    4 * BOUND_MS,
  ).catch(() => undefined);
  return performance.now() - began;
}
