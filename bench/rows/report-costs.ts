import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { createUsers } from '../support/payees.js';
import { row } from '../harness/row.js';
import { timeByPart } from '../support/cpu-profile.js';
import { BenchEnvironment } from '../support/environment.js';
import { load } from '../support/load.js';
import { startService } from '../support/service.js';
import { reportsTo } from '../support/reports.js';

const BUNDLE = fileURLToPath(new URL('../../dist/bundle/disburse.cjs', import.meta.url));
/** Parts and statements below this share are printed as one line of others. */
const LISTED_SHARE = 0.015;
/** Read models and the ledger finish within this time. */
const SETTLED_MS = 2000;

/** The shares of a report's time by part of the process and by statement. Profiling distorts speeds. */
export const reportCostsRow = row(
  'report-costs',
  'where the time of POST /merchants/v1/payouts/report goes, all roles in one process',
  async ({ options, progress }) => {
    const environment = await BenchEnvironment.start({
      shared_preload_libraries: 'pg_stat_statements',
      'pg_stat_statements.track_planning': 'on',
    });
    try {
      const folder = environment.folder('profile');
      const service = await startService(environment, {
        name: 'costs',
        command: [process.execPath, '--cpu-prof', `--cpu-prof-dir=${folder}`],
      });
      const users = await createUsers(service, options.users);
      const pool = await environment.pool('costs');
      await pool.query('create extension pg_stat_statements');
      const count = options.connections * options.reports;
      const send = async (): Promise<void> => {
        await load(service.baseUrl, reportsTo(service.merchant, users, count), options.connections);
      };
      progress('warm-up');
      await send();
      await sleep(SETTLED_MS);
      progress(`${count} reports`);
      await pool.query('select pg_stat_statements_reset()');
      const from = monotonic();
      await send();
      await sleep(SETTLED_MS);
      const to = monotonic();
      const statements = await statementsOf(pool);
      await service.stop();
      const parts = timeByPart(folder, BUNDLE, [from, to]);
      return {
        comparisons: [],
        notes: [
          ...listed(
            'the process',
            [...parts].map(([name, us]) => ({ name, us })),
            count,
          ),
          ...listed('PostgreSQL', statements, count),
        ],
      };
    } finally {
      await environment.close();
    }
  },
);

interface Cost {
  readonly name: string;
  readonly us: number;
  readonly more?: string;
}

/** Returns planning and execution time of each statement, its calls and its WAL. */
async function statementsOf(pool: pg.Pool): Promise<readonly Cost[]> {
  const { rows } = await pool.query<{
    query: string;
    calls: string;
    ms: number;
    planning: number;
    wal: string;
  }>(
    `select query, calls, total_plan_time + total_exec_time as ms, total_plan_time as planning, wal_bytes as wal from pg_stat_statements`,
  );
  return rows.map(({ query, calls, ms, planning, wal }) => ({
    name: query.replaceAll(/\s+/g, ' ').trim().slice(0, 70),
    us: ms * 1000,
    more: `${calls} calls, ${((planning / ms) * 100).toFixed(0)} % planning, ${(Number(wal) / 1024).toFixed(0)} KiB of WAL`,
  }));
}

function listed(where: string, costs: readonly Cost[], reports: number): readonly string[] {
  const total = costs.reduce((sum, { us }) => sum + us, 0);
  const large = costs.filter(({ us }) => us / total >= LISTED_SHARE).sort((a, b) => b.us - a.us);
  const rest = total - large.reduce((sum, { us }) => sum + us, 0);
  const line = (name: string, us: number, more = ''): string =>
    `${((us / total) * 100).toFixed(1).padStart(5)} %  ${name}${more && `  (${more})`}`;
  return [
    `${where}: ${(total / reports).toFixed(0)} µs a report`,
    ...large.map(({ name, us, more }) => line(name, us, more)),
    line(`${costs.length - large.length} others`, rest),
  ];
}

/** Microseconds, as in a profile. */
const monotonic = (): number => Number(process.hrtime.bigint() / 1000n);
