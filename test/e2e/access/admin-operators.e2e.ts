import { describe, expect, it } from '@jest/globals';
import { operatorPerson, updateOperator } from '../../../src/contexts/access/operators/operator.js';
import { CommandLoop } from '../../../src/platform/event-store/command-loop.js';
import { OperatorsView } from '../../../src/contexts/access/merchants/directory.view.js';
import { newId } from '../../../src/kernel/ids.js';
import type { AdminClient } from '../../support/admin/admin-client.js';
import { sharedApp, onTestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { programsFor } from '../../support/programs/cli.js';

const reason = 'a test of operators';

const app = await sharedApp();
const [admin, approver] = [await app.newAdmin(), await app.newAdmin()];

describe('operators in the admin API', () => {
  const person = (role: string) => ({ name: 'Grace', email: `${newId()}@ops.example`, role, reason });

  it('a new operator exists only once another operator approves the request', async () => {
    const requested = await admin.post('/operators', person('support'));
    expect(requested.status).toBe(202);
    const { operation } = requested.json();
    const { id } = operation.subject;
    expect((await admin.get(`/operators/${id}`)).status).toBe(404);
    expect((await admin.post(`/operations/${operation.id}/approve`, { reason })).status).toBe(403);
    expect((await approver.post(`/operations/${operation.id}/approve`, { reason })).status).toBe(200);
    const created = await admin.get(`/operators/${id}`);
    expect(created.json()).toMatchObject({
      operator: { id, name: 'Grace', role: 'support', status: 'active' },
    });
    expect(created.headers['etag']).toBe('"0"');
  });

  it('a new operator is refused with a used email, an unknown role or a role above that of the requester', async () => {
    const body = person('viewer');
    const { operation } = (await admin.post('/operators', body)).json();
    await approver.post(`/operations/${operation.id}/approve`, { reason });
    const again = await admin.post('/operators', { ...body, email: body.email.toUpperCase() });
    expect(again.status).toBe(422);
    expect(again.json()).toMatchObject({ errors: { email: ['is used by another operator'] } });
    expect((await admin.post('/operators', person('owner'))).status).toBe(422);
    const limited = await app.newAdmin({ scopes: ['operators:write', 'operators:read', 'payouts:read'] });
    const refused = await limited.post('/operators', person('administrator'));
    expect(refused.status).toBe(403);
    expect(refused.json()).toMatchObject({ detail: 'The scope merchants:read is missing' });
  });

  it('a role with more scopes needs a second operator, a role with fewer scopes does not', async () => {
    const other = await app.newAdmin({ role: 'support' });
    const path = `/operators/${other.operatorId}`;
    const lowered = await admin.change(path, '', { role: 'viewer', reason });
    expect(lowered.status).toBe(200);
    expect(lowered.json()).toMatchObject({ operator: { role: 'viewer' } });
    const raised = await admin.change(path, '', { role: 'finance', reason });
    expect(raised.status).toBe(202);
    expect((await admin.get(path)).json()).toMatchObject({ operator: { role: 'viewer' } });
    const { operation } = raised.json();
    expect((await approver.post(`/operations/${operation.id}/approve`, { reason })).status).toBe(200);
    expect((await admin.get(path)).json()).toMatchObject({ operator: { role: 'finance' } });
    expect((await admin.change(path, '', { role: 'owner', reason })).status).toBe(422);
    expect((await admin.call({ method: 'PATCH', path, body: { role: 'viewer', reason } })).status).toBe(428);
  });

  it('a disabled operator is refused until another operator approves the reactivation', async () => {
    const other = await app.newAdmin({ role: 'viewer' });
    const path = `/operators/${other.operatorId}`;
    expect((await admin.change(path, '', { status: 'disabled', reason })).status).toBe(200);
    await eventually(async () => (await other.get('/whoami')).status === 401);
    const list = await admin.get('/operators?status=disabled');
    expect(list.json<{ operators: { id: string }[] }>().operators.map(({ id }) => id)).toContain(
      other.operatorId,
    );
    const enabled = await admin.change(path, '', { status: 'active', reason });
    expect(enabled.status).toBe(202);
    expect((await other.get('/whoami')).status).toBe(401);
    const { operation } = enabled.json();
    expect((await approver.post(`/operations/${operation.id}/approve`, { reason })).status).toBe(200);
    await eventually(async () => (await other.get('/whoami')).status === 200);
  });

  it('the link to enrol a passkey is returned only by the approval and by its repeat after a crash', async () => {
    const request = newId();
    const body = person('viewer');
    const create = () => admin.post('/operators', body, { idempotencyKey: request });
    const { operation } = (await create()).json();
    const key = newId();
    const approve = () =>
      approver.post(`/operations/${operation.id}/approve`, { reason }, { idempotencyKey: key });
    expect((await approve()).json()).toMatchObject({ login_url: expect.stringContaining('/enrol#') });
    await app.database.query('delete from event_store.responses where key = any($1)', [[key, request]]);
    const again = await approve();
    expect(again.status).toBe(200);
    expect(again.json()).toMatchObject({ login_url: expect.stringContaining('/enrol#') });
    expect((await create()).text).not.toContain('/enrol#');
    expect((await admin.get(`/operations/${operation.id}`)).text).not.toContain('/enrol#');
    expect((await approver.post(`/operations/${operation.id}/approve`, { reason })).status).toBe(409);
  });
});

describe('the first and the last administrators', () => {
  // A separate service, without other administrators.
  const app = onTestApp();
  const link = (email: string, ...args: string[]) => {
    const env = {
      MODE: 'production',
      ADMIN_URL: 'https://admin.example',
      PUBLIC_URL: 'https://api.example',
      CHAIN_RPC_URL: app.chain.rpcUrl,
      USDC_ADDRESS: app.chain.usdcAddress,
    };
    return programsFor(app, env)('operator', '--json', 'login-link', email, '--reason', reason, ...args);
  };

  it('the shell creates the first two administrators alone, and each later login link needs approval', async () => {
    for (const name of ['ada', 'bob']) {
      const { printed } = await link(`${name}@ops.example`, '--name', name);
      expect(printed).toContain('/enrol#');
    }
    await expect(link('cy@ops.example', '--name', 'cy')).rejects.toThrow('There are operators already');
    const view = app.app.get(OperatorsView, { strict: false });
    const bob = await eventually(async () => view.byEmail('bob@ops.example'));
    // No operation may do this, because one administrator would remain.
    const disabled = { change: { status: 'disabled' }, at: new Date().toISOString() } as const;
    const loop = app.app.get(CommandLoop, { strict: false });
    await loop.execute(operatorPerson, bob.id, (state) => updateOperator(disabled, state), {
      metadata: { actor: 'operator' },
    });
    await eventually(async () => (await view.byEmail('bob@ops.example'))?.status === 'disabled');
    await expect(link('cy@ops.example', '--name', 'cy')).rejects.toThrow('There are operators already');
    const { printed } = await link('ada@ops.example');
    expect(JSON.parse(printed)).toMatchObject({ operation: { status: 'pending_approval' } });
    await expect(link('bob@ops.example')).rejects.toThrow('The operator is disabled');
  });

  it('at least two administrators remain, because one alone could approve nothing', async () => {
    const first = await app.app.get(OperatorsView, { strict: false }).byEmail('ada@ops.example');
    const [ada, bob] = [await app.newAdmin(), await app.newAdmin()];
    const path = `/operators/${first!.id}`;
    expect((await ada.change(path, '', { status: 'disabled', reason })).status).toBe(200);
    for (const body of [{ status: 'disabled' }, { role: 'viewer' }]) {
      const refused = await ada.change(`/operators/${bob.operatorId}`, '', { ...body, reason });
      expect(refused.status).toBe(409);
      expect(refused.json()).toMatchObject({ detail: expect.stringContaining('could approve nothing') });
    }
    expect((await bob.get('/whoami')).status).toBe(200);
  });

  it('two of three administrators remain if two disable each other at the same time', async () => {
    const [ada, bob] = [await app.newAdmin(), await app.newAdmin()];
    const disable = (by: AdminClient, whom: AdminClient) =>
      by.change(`/operators/${whom.operatorId}`, '', { status: 'disabled', reason });
    const statuses = await Promise.all([disable(ada, bob), disable(bob, ada)]);
    expect(statuses.map(({ status }) => status)).toContain(200);
    const left = await app.database.query(
      `select from access.operators where role = 'administrator' and status = 'active'`,
    );
    expect(left.length).toBeGreaterThanOrEqual(2);
  });
});
