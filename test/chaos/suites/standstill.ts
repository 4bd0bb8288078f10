import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { eventually } from '../../../bench/support/wait.js';
import { haveReached, headOf } from '../support/books.js';
import type { ReportLoad } from '../support/report-load.js';
import type { ServiceProcess } from '../../../bench/support/service.js';
import { storm, type Struck } from '../support/storm.js';
import { between, oneOf, seconds, type Suite, type SuiteOptions } from '../support/suite.js';

/** A process stopped in a transaction delays others by at most 10 s, plus the delay of a busy machine. */
const BOUND_MS = 25_000;
/** Longer than the bound. */
const LONG_SECONDS = 30;
const ROLES = ['worker', 'api', 'api,worker'] as const;
const TRIES = 150;

/**
 * Stops and continues processes under load: a worker, an API process and one that is both, in a transaction
 * where possible. Every fourth time it stops the PostgreSQL server or one of its backends.
 */
export const standstill: Suite = async (options) => {
  let others: readonly ServiceProcess[] = [];
  let blows = 0;
  await storm(options, async (struck) => {
    blows += 1;
    if (blows % 4 === 0) return stopPostgres(struck, options);
    const { shared, env } = struck;
    if (others.length === 0)
      others = ROLES.map((roles) => shared.process(roles.replace(',', '-'), { ...env, ROLES: roles }));
    for (const each of others) if (!each.runs) await each.start();
    return stopProcess(oneOf(others), struck, options);
  });
};

/** All other processes continue within the bound while one is stopped. */
async function stopProcess(
  victim: ServiceProcess,
  { shared: { pool }, load }: Struck,
  { verdict, sizes = {} }: SuiteOptions,
): Promise<string> {
  const isInTransaction = await stopInTransaction(victim.pid, pool);
  const began = performance.now();
  const ms = isInTransaction ? (sizes.seconds ?? LONG_SECONDS) * 1000 : between(500, 8000);
  try {
    const waited = await continues(pool, load);
    verdict.expect(waited < BOUND_MS, `no process waits for ${victim.name}`, seconds(waited));
    await sleep(Math.max(0, began + ms - performance.now()));
    const where = isInTransaction ? 'in a transaction' : 'outside of one';
    return `${victim.name} stopped ${where} for ${seconds(ms)}; the others continued after ${seconds(waited)}`;
  } finally {
    process.kill(victim.pid, 'SIGCONT');
  }
}

/** Stops the process and returns whether one of its sessions is in a transaction. */
async function stopInTransaction(pid: number, pool: pg.Pool): Promise<boolean> {
  for (let n = 0; n < TRIES; n += 1) {
    process.kill(pid, 'SIGSTOP');
    // A session of a running process has continued by then.
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

async function stopPostgres({ shared, load }: Struck, { verdict }: SuiteOptions): Promise<string> {
  const { pid, name } = await shared.postgresVictim();
  const ms = between(200, 6000);
  process.kill(pid, 'SIGSTOP');
  await sleep(ms);
  process.kill(pid, 'SIGCONT');
  const waited = await continues(shared.pool, load);
  verdict.expect(waited < BOUND_MS, `all continue after ${name} of PostgreSQL was stopped`, seconds(waited));
  return `${name} of PostgreSQL stopped for ${seconds(ms)}; all continued after ${seconds(waited)}`;
}

/** Returns the time until a new report is acknowledged and every subscription has passed a new event. */
async function continues(pool: pg.Pool, load: ReportLoad): Promise<number> {
  const began = performance.now();
  const head = await headOf(pool);
  await eventually(
    'the others continue',
    async () => load.acknowledgedBegunAfter(began) && (await haveReached(pool, head)),
    4 * BOUND_MS,
  ).catch(() => undefined);
  return performance.now() - began;
}
