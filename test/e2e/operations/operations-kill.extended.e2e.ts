import { spawnSync } from 'node:child_process';
import { expect, it } from '@jest/globals';
import { OPERATION_FAILPOINTS } from '../../support/failpoints.js';
import { testApp } from '../../support/app.js';
import { freePort } from '../../../sandbox/processes.js';
import { CLI, runAdmin, runBuilt } from '../../support/erasure/killed.js';
import { eventually, WAIT_MS } from '../../support/eventually.js';

type Point = (typeof OPERATION_FAILPOINTS)[number];

const app = await testApp();

/** Starts a process of the admin API that stops at the failpoint, and a change there. */
async function programAt(point: Point, env: NodeJS.ProcessEnv = {}) {
  const [ada, bob] = [await app.newAdmin(), await app.newAdmin()];
  const id = (await app.newMerchant()).credentials.apiKey;
  const args = ['merchants', 'suspend', id, '--reason', `stopped at ${point}`];
  const needsApproval = point === 'operation.approved';
  if (needsApproval) {
    await eventually(async () => (await ada.get(`/merchants/${id}`)).status === 200);
    const suspended = await ada.change(`/merchants/${id}`, '/suspend', { reason: 'a precaution' });
    expect(suspended.status).toBe(200);
    const waiting = await ada.change(`/merchants/${id}`, '/reinstate', { reason: 'it was none' });
    const { operation } = waiting.json();
    args.splice(0, 3, 'operations', 'approve', operation.id);
  }
  const port = String(await freePort());
  const all = {
    FAILPOINT: point,
    ADMIN_PORT: port,
    OPERATIONS_APPROVALS: needsApproval ? 'on' : 'off',
    ...env,
  };
  const name = needsApproval ? 'merchants.reinstate' : 'merchants.suspend';
  const type = needsApproval ? 'merchant.reinstated.v1' : 'merchant.suspended.v1';
  return {
    /** Starts the stopping process, and the program that requests the operation. */
    run: async () => {
      const { child, ended, shell } = await runAdmin(app, all);
      const bobs = { DISBURSE_ADMIN_KEY: bob.key, DISBURSE_ADMIN_URL: `http://127.0.0.1:${port}` };
      return { child, ended, requested: (needsApproval ? shell.with(bobs) : shell).run('admin', ...args) };
    },
    executedByWorker: () =>
      eventually(async () => {
        const rows = await app.database.query<{ status: string }>(
          'select status from operations.operations where subject_id = $1 and name = $2',
          [id, name],
        );
        return rows.map(({ status }) => status).join() === 'executed';
      }, 2 * WAIT_MS),
    changes: async (): Promise<number> => {
      const [row] = await app.database.query<{ changes: number }>(
        'select count(*)::int as changes from event_store.events where stream = $1 and type = $2',
        [`merchant-${id}`, type],
      );
      return row!.changes;
    },
  };
}

it(
  'an operation whose process is killed at any failpoint is executed once, by a worker',
  async () => {
    for (const point of OPERATION_FAILPOINTS) {
      const { run, executedByWorker, changes } = await programAt(point);
      const { ended, requested } = await run();
      expect([point, await ended, (await requested).code]).toEqual([point, 'SIGKILL', 69]);
      await executedByWorker();
      expect([point, await changes()]).toEqual([point, 1]);
    }
  },
  8 * WAIT_MS,
);

it(
  'a sealing key is created once, even if the process is killed right after the creation',
  async () => {
    const keys = async (): Promise<number> => {
      const rows = await app.database.query('select from platform.key_ring group by key_id');
      return rows.length;
    };
    const before = await keys();
    const args = ['keys', 'fresh', '--reason', 'a rotation'];
    expect(await runBuilt(app, CLI, { FAILPOINT: 'operation.written' }, ...args).ended).toBe('SIGKILL');
    expect(await keys()).toBe(before + 1);
    await eventually(async () => {
      const rows = await app.database.query<{ status: string }>(
        `select status from operations.operations where name = 'keys.create'`,
      );
      return rows.map(({ status }) => status).join() === 'executed';
    }, 2 * WAIT_MS);
    expect(await keys()).toBe(before + 1);
  },
  4 * WAIT_MS,
);

it(
  'an operation is executed once if its process stalls at any failpoint and continues after a worker has executed it',
  async () => {
    // The processes boot one after the other. The workers' waits for their leases overlap.
    const stalled: Awaited<ReturnType<typeof stalledAt>>[] = [];
    for (const point of OPERATION_FAILPOINTS) stalled.push(await stalledAt(point));
    for (const { point, child, ended, requested, executedByWorker, changes } of stalled) {
      try {
        await eventually(async () => isStopped(child.pid!), 2 * WAIT_MS);
        await executedByWorker();
      } finally {
        child.kill('SIGCONT');
      }
      // The program reports the executed operation.
      expect([point, (await requested).code]).toEqual([point, 0]);
      child.kill('SIGTERM');
      await ended;
      expect([point, await changes()]).toEqual([point, 1]);
    }
    const twice = await app.database.query(
      `select stream from event_store.events where type = 'operation.executed.v1' group by 1 having count(*) > 1`,
    );
    expect(twice).toEqual([]);
  },
  8 * WAIT_MS,
);

async function stalledAt(point: Point) {
  const program = await programAt(point, { FAILPOINT_SIGNAL: 'SIGSTOP' });
  return { point, ...program, ...(await program.run()) };
}

function isStopped(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'state=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.trim().startsWith('T');
}
