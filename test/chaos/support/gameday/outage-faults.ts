import { execFileSync } from 'node:child_process';
import pg from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault, Faults } from './fault.js';
import { Stage } from './stage.js';
import { rpc } from '../../../../sandbox/chain.js';
import type { TestNode } from '../../../support/payouts/test-node.js';
import { randomHash } from '../../../support/payouts/payout-calls.js';
import type { Shared } from '../shared.js';

const SKEW = new URL('../skew.mjs', import.meta.url).href;

const skewed = (seconds: number) => ({
  NODE_OPTIONS: `--import=${SKEW}`,
  CHAOS_SKEW_MS: String(seconds * 1000),
});

const clock = (name: string, seconds: number): Fault => ({
  name,
  alerts: ['ClockSkewed'],
  begin: (stage) => stage.replace('worker', skewed(seconds)),
  end: (stage) => stage.replace('worker'),
});

export const processFaults = (): Faults => ({
  start: () => Stage.start(),
  faults: [
    {
      name: 'the API is killed',
      alerts: ['ProcessDown'],
      begin: ({ api }) => api.kill(),
      end: (stage) => stage.replace('api'),
    },
    {
      name: 'the API hangs',
      alerts: ['ProcessDown'],
      begin: async ({ api }) => void process.kill(api.pid, 'SIGSTOP'),
      end: (stage) => stage.replace('api'),
    },
    {
      name: 'the only worker was stopped',
      alerts: ['ProcessDown', 'WorkerMissing'],
      begin: async ({ worker }) => void (await worker.stop()),
      end: (stage) => stage.replace('worker'),
    },
    {
      name: 'the only worker hangs',
      alerts: ['ProcessDown', 'WorkerMissing'],
      begin: async ({ worker }) => void process.kill(worker.pid, 'SIGSTOP'),
      end: (stage) => stage.replace('worker'),
    },
    clock('the clock of the worker is 20 s ahead', 20),
    clock('the clock of the worker is an hour behind', -3600),
  ],
});

/** A fault of one of two nodes; the other one works. */
const node = (name: string, begin: (node: TestNode) => Promise<void> | void): Fault => ({
  name,
  alerts: ['ChainNodeUnavailable'],
  begin: async ({ nodes: [first] }) => begin(first),
  end: async ({ nodes: [first] }) => first.comeBack(),
});

export const chainFaults = (): Faults => ({
  start: () => Stage.start(),
  faults: [
    node('a node is down', (each) => each.goDown()),
    node('a node responds after 20 s', (each) => each.delayFor(() => true, 20_000)),
    node('a node is behind', (each) => each.freeze()),
    node('a node is on another chain', (each) =>
      each.tamper(({ method }) => (method === 'eth_chainId' ? { result: '0x1' } : undefined)),
    ),
    {
      name: 'all nodes are down',
      alerts: ['ChainUnavailable'],
      begin: async ({ nodes }) => nodes.forEach((each) => each.goDown()),
      end: async ({ nodes }) => nodes.forEach((each) => each.comeBack()),
    },
    {
      name: 'the chain makes no blocks',
      alerts: ['ChainUnavailable'],
      begin: async ({ shared }) =>
        void (await rpc((await shared.chain()).rpcUrl, 'evm_setIntervalMining', [0])),
      end: async ({ shared }) =>
        void (await rpc((await shared.chain()).rpcUrl, 'evm_setIntervalMining', [1])),
    },
    {
      name: 'nodes contradict themselves about transfers',
      alerts: ['ChainNodesDisagree'],
      // The alert counts the last five minutes.
      resolvedMs: 7 * 60_000,
      begin: async (stage) => {
        for (const each of stage.nodes)
          each.tamper(({ method }, { result }) =>
            method === 'eth_getTransactionReceipt' && result !== null
              ? { result: { ...(result as object), blockHash: randomHash() } }
              : undefined,
          );
        await stage.report(10, { paid: true });
      },
      end: async ({ nodes }) => nodes.forEach((each) => each.comeBack()),
    },
  ],
});

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

/** An open session whose transaction holds the locks of `statement`. */
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
      // A standby, or a server that an operator has set to read-only.
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

const LOAD_MS = 200;
/** The duration of successful reports before the fault. */
const HEALTHY_MS = 60_000;
/** The longer of the alert's short windows, plus its groups of half a minute. */
const WINDOW_MS = 35 * 60_000;

/** Reports payouts until the installation ends, even while they fail. */
function reportContinuously(stage: Stage): void {
  let isEnded = false;
  const reporting = (async () => {
    for (; !isEnded; await sleep(LOAD_MS)) await stage.report(1, { paid: false }).catch(() => undefined);
  })();
  stage.ends.add(() => {
    isEnded = true;
    return reporting;
  });
}

/** Faults in which requests fail although no dependency is unavailable. */
export const budgetFaults = (): Faults => ({
  start: () => Stage.start(),
  faults: [
    {
      name: 'every report fails with 500',
      alerts: ['ErrorBudgetBurnsFast'],
      resolvedMs: WINDOW_MS,
      begin: async (stage) => {
        reportContinuously(stage);
        await sleep(HEALTHY_MS);
        await stage.shared.pool.query(
          `create function public.refused() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
           create trigger refused before insert on event_store.events
           for each row when (new.type = 'payout.reported.v1') execute function public.refused()`,
        );
      },
      end: async ({ shared }) => void (await shared.pool.query('drop trigger refused on event_store.events')),
    },
  ],
});
