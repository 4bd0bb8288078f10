import { execFileSync } from 'node:child_process';
import pg from 'pg';
import type { Shared } from '../shared.js';
import type { Fault, Faults } from './fault.js';
import { Stage } from './stage.js';

function signalPostgres({ shared }: Stage, signal: NodeJS.Signals): void {
  const { postmaster } = shared.environment;
  const children = execFileSync('pgrep', ['-P', String(postmaster)], { encoding: 'utf8' });
  for (const pid of [postmaster, ...children.trim().split('\n').map(Number)]) process.kill(pid, signal);
}

async function setReadOnly({ pool }: Shared, value: 'on' | 'off'): Promise<void> {
  await pool.query(
    `set transaction_read_only = off; alter role current_user set default_transaction_read_only = ${value}`,
  );
  await pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
  );
}

/** An open session with a transaction that holds the locks of `statement`. */
function forgottenSession(name: string, alerts: readonly string[], statement: string): Fault {
  return {
    name,
    alerts,
    begin: async (stage) => {
      await stage.report(1, { paid: false });
      const session = new pg.Client({
        connectionString: stage.shared.databaseUrl,
        application_name: 'forgotten',
      });
      session.on('error', () => undefined);
      await session.connect();
      await session.query(`begin; ${statement}`);
      await stage.report(1, { paid: false });
    },
    end: async ({ shared }) =>
      void (await shared.pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'forgotten'`,
      )),
  };
}

export const databaseFaults = (): Faults => ({
  start: () => Stage.start(),
  faults: [
    {
      name: 'PostgreSQL is down',
      alerts: ['DatabaseUnavailable'],
      begin: ({ shared }) => shared.environment.killPostgres(),
      end: ({ shared }) => shared.environment.restartPostgres(),
    },
    {
      name: 'PostgreSQL hangs',
      alerts: ['DatabaseUnavailable'],
      begin: async (stage) => signalPostgres(stage, 'SIGSTOP'),
      end: async (stage) => signalPostgres(stage, 'SIGCONT'),
    },
    {
      // As on a standby, and on a server that an operator has set to read-only.
      name: 'PostgreSQL accepts no writes',
      alerts: ['DatabaseUnavailable'],
      begin: ({ shared }) => setReadOnly(shared, 'on'),
      end: ({ shared }) => setReadOnly(shared, 'off'),
    },
    forgottenSession(
      'a forgotten session locks a read model',
      ['SubscriptionBehind'],
      'lock table payouts.payouts in share mode',
    ),
    forgottenSession(
      'a forgotten session locks due work',
      ['WorkStuck'],
      `select from work.items where kind = 'payouts.verification' for update`,
    ),
  ],
});
