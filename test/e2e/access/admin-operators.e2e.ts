import { beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/kernel/ids.js';
import type { AdminClient } from '../../support/admin/admin-client.js';
import { onTestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';

const reason = 'a test of operators';

interface Pending {
  readonly operation: { readonly id: string; readonly subject: { readonly id: string } };
}

describe('operators in the admin API', () => {
  const app = onTestApp();
  let admin: AdminClient;
  let approver: AdminClient;
  beforeAll(async () => {
    [admin, approver] = [await app.newAdmin(), await app.newAdmin()];
  });
  const person = (role: string) => ({ name: 'Grace', email: `${newId()}@ops.example`, role, reason });

  it('a new person needs a second one, who gets the link to enrol a passkey once', async () => {
    const requested = await admin.post('/operators', person('support'));
    expect(requested.status).toBe(202);
    const { operation } = requested.json<Pending>();
    const { id } = operation.subject;
    expect((await admin.get(`/operators/${id}`)).status).toBe(404);
    expect((await admin.post(`/operations/${operation.id}/approve`, { reason })).status).toBe(403);
    const approved = await approver.post(`/operations/${operation.id}/approve`, { reason });
    expect(approved.status).toBe(200);
    expect(approved.json()).toMatchObject({ login_url: expect.stringContaining('/enrol#') });
    const created = await admin.get(`/operators/${id}`);
    expect(created.json()).toMatchObject({
      operator: { id, name: 'Grace', role: 'support', status: 'active' },
    });
    expect(created.headers['etag']).toBe('"0"');
    expect((await admin.get(`/operations/${operation.id}`)).text).not.toContain('/enrol#');
  });

  it('a new person is refused with an email that another has, an unknown role, and a role above the own', async () => {
    const body = person('viewer');
    const { operation } = (await admin.post('/operators', body)).json<Pending>();
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

  it('a role with more scopes needs a second person, one with fewer does not', async () => {
    const other = await app.newAdmin({ role: 'support' });
    const path = `/operators/${other.operatorId}`;
    const lowered = await admin.change(path, '', { role: 'viewer', reason });
    expect(lowered.status).toBe(200);
    expect(lowered.json()).toMatchObject({ operator: { role: 'viewer' } });
    const raised = await admin.change(path, '', { role: 'finance', reason });
    expect(raised.status).toBe(202);
    expect((await admin.get(path)).json()).toMatchObject({ operator: { role: 'viewer' } });
    const { operation } = raised.json<Pending>();
    expect((await approver.post(`/operations/${operation.id}/approve`, { reason })).status).toBe(200);
    expect((await admin.get(path)).json()).toMatchObject({ operator: { role: 'finance' } });
    expect((await admin.change(path, '', { role: 'owner', reason })).status).toBe(422);
    expect((await admin.call({ method: 'PATCH', path, body: { role: 'viewer', reason } })).status).toBe(428);
  });

  it('a disabled person is refused with every key, and is listed as disabled', async () => {
    const other = await app.newAdmin({ role: 'viewer' });
    const path = `/operators/${other.operatorId}`;
    expect((await admin.change(path, '', { status: 'disabled', reason })).status).toBe(200);
    await eventually(async () => (await other.get('/whoami')).status === 401);
    const list = await admin.get('/operators?status=disabled');
    expect(list.json<{ operators: { id: string }[] }>().operators.map(({ id }) => id)).toContain(
      other.operatorId,
    );
    expect((await admin.change(path, '', { status: 'active', reason })).status).toBe(200);
    await eventually(async () => (await other.get('/whoami')).status === 200);
  });
});
