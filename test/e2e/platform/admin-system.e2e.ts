import { describe, expect, it } from '@jest/globals';
import { measureCall } from '../../../src/contexts/onboarding/onboarding.metrics.js';
import { newId } from '../../../src/kernel/ids.js';
import { onTestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { programsFor } from '../../support/programs/cli.js';

interface System {
  readonly processes: readonly {
    readonly id: string;
    readonly roles: readonly string[];
    readonly version: string;
  }[];
  readonly subscriptions: readonly { readonly name: string; readonly halted_at: null }[];
  readonly backlogs: readonly { readonly name: string; readonly due: number }[];
  readonly schedules: readonly {
    readonly name: string;
    readonly every_ms: number;
    readonly last_at: string | null;
  }[];
  readonly nodes: readonly { readonly url_host: string; readonly head: number; readonly status: string }[];
  readonly providers: readonly { readonly name: string; readonly status: string }[];
  readonly audit: {
    readonly head: { readonly size: number } | null;
    readonly last_verify: { readonly outcome: string } | null;
  };
}

describe('the system status for operators', () => {
  // A separate service, because of heads every second, one process, and an audit of the whole log.
  const app = onTestApp({ AUDIT_HEAD_SECONDS: '1' });
  const system = async (): Promise<System> => (await (await app.newAdmin()).get('/system')).json();

  it('contains the processes, their work and their dependencies', async () => {
    // The last call counts, and another suite of this worker may have failed it.
    await measureCall('sms', async () => undefined);
    await eventually(async () => {
      const { processes, nodes, schedules, providers } = await system();
      const isReported = providers.some(({ name, status }) => name === 'sms:sandbox' && status === 'ok');
      return isReported && processes.length * nodes.length === 1 && schedules.some(({ last_at: at }) => at);
    });
    const found = await system();
    expect(found.processes[0]!.roles).toEqual(expect.arrayContaining(['api', 'worker', 'admin']));
    expect(found.processes[0]!.version).toMatch(/^[0-9]+\.[0-9]+\.[0-9]+$/);
    expect(found.subscriptions.map(({ name }) => name)).toContain('access.directory');
    expect(found.subscriptions.every(({ halted_at: at }) => at === null)).toBe(true);
    expect(found.backlogs).toContainEqual({ name: 'webhooks.deliveries', due: 0, oldest_at: null });
    expect(found.backlogs).toContainEqual({ name: 'tracking.forwarding', due: 0, oldest_at: null });
    expect(found.schedules.find(({ name }) => name === 'operations.heartbeat')?.every_ms).toBe(3000);
    expect(found.nodes[0]).toMatchObject({ url_host: new URL(app.chain.rpcUrl).host, status: 'ok' });
  });

  it('drops a process a minute after its last heartbeat', async () => {
    const id = newId();
    const insert = (seconds: number) =>
      app.database.query(
        `insert into platform.processes (process_id, version, roles, started_at, seen_at, clock_skew_ms, facts)
         values ($1, '0.0.0', '{worker}', now(), now() - $2 * interval '1 s', 0, $3)
         on conflict (process_id) do update set seen_at = excluded.seen_at`,
        [id, seconds, { schedules: [], halted: [], nodes: [], providers: [] }],
      );
    await insert(0);
    expect((await system()).processes.map((each) => each.id)).toContain(id);
    await insert(61);
    expect((await system()).processes.map((each) => each.id)).not.toContain(id);
    await eventually(async () => {
      const sql = 'select from platform.processes where process_id = $1';
      return (await app.database.query(sql, [id])).length === 0;
    });
  });

  it('contains the newest signed head, its proof and the outcome of the last verification', async () => {
    const admin = await app.newAdmin();
    const head = await eventually(async () => {
      const response = await admin.get('/audit/head');
      return response.status === 200 && response.json().head;
    });
    const proof = await admin.get(`/audit/consistency?from=${head.size}`);
    expect(proof.status).toBe(200);
    expect((await system()).audit.last_verify).toBeNull();
    await programsFor(app)('audit', 'verify');
    const { audit } = await system();
    expect(audit.head!.size).toBeGreaterThanOrEqual(head.size);
    expect(['in_order', 'incomplete']).toContain(audit.last_verify!.outcome);
    const viewer = await app.newAdmin({ role: 'viewer' });
    expect((await viewer.get('/audit/head')).status).toBe(403);
  });

  it('has a search that finds merchants and operators by id, and nothing for an unknown id', async () => {
    const admin = await app.newAdmin();
    const search = async (q: string) => (await admin.get(`/search?q=${q}`)).json().results;
    const merchant_id = app.merchant.credentials.apiKey;
    expect(await search(merchant_id)).toMatchObject([{ kind: 'merchant', id: merchant_id, merchant_id }]);
    const operator = { kind: 'operator', id: admin.operatorId, merchant_id: null };
    expect(await search(admin.operatorId)).toMatchObject([operator]);
    expect(await search(newId())).toEqual([]);
  });
});
