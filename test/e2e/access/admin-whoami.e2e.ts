import { describe, expect, it } from '@jest/globals';
import { CommandBus } from '@nestjs/cqrs';
import { adminSecret } from '../../../src/contexts/access/domain/admin-secret.js';
import { ROLE_SCOPES, SCOPES } from '../../../src/contexts/access/contract.js';
import {
  ActivateAdminKey,
  IssueAdminKey,
  RevokeAdminKey,
  RollAdminKey,
} from '../../../src/contexts/access/application/admin-key-commands.js';
import {
  CreateOperator,
  UpdateOperator,
} from '../../../src/contexts/access/application/operator-commands.js';
import { newId } from '../../../src/kernel/ids.js';
import { AdminClient } from '../../support/admin/admin-client.js';
import { onSharedApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { send, type ApiResponse } from '../../support/http/signed-client.js';

interface Whoami {
  readonly actor: { readonly operator_id: string; readonly credential_id: string };
  readonly scopes: readonly string[];
  readonly merchants: readonly string[] | null;
}

describe('the keys of operators', () => {
  const app = onSharedApp();
  const run = <T>(command: object): Promise<T> =>
    app.app.get(CommandBus).execute(command as Parameters<CommandBus['execute']>[0]) as Promise<T>;
  const whoami = (client: AdminClient): Promise<ApiResponse> => client.get('/whoami');
  const credentialOf = async (client: AdminClient): Promise<string> =>
    (await whoami(client)).json<Whoami>().actor.credential_id;
  const expectRefused = (response: ApiResponse): void => {
    expect(response.status).toBe(401);
    expect(response.headers['www-authenticate']).toBe('Bearer');
    expect(response.json()).toMatchObject({ title: 'Unauthorized', status: 401 });
  };
  const becomes = (client: AdminClient, status: number): Promise<true> =>
    eventually(async () => (await whoami(client)).status === status);

  it('say who calls and what the key may do', async () => {
    const admin = await app.newAdmin();
    const response = await whoami(admin);
    expect(response.status).toBe(200);
    expect(response.json()).toEqual({
      actor: { operator_id: admin.operatorId, name: 'Test operator', credential_id: expect.any(String) },
      role: 'administrator',
      scopes: SCOPES,
      merchants: null,
      expires_at: null,
    });
    expect(response.headers['ratelimit-policy']).toBe('"credential";q=600;w=60');
  });

  it('are refused without a key, with a malformed one, a wrong check, and one that nothing knows', async () => {
    const { baseUrl, key } = await app.newAdmin();
    const attempt = (headers: Record<string, string>): Promise<ApiResponse> =>
      send(`${baseUrl}/admin/v1/whoami`, { headers });
    for (const authorization of [
      undefined,
      'Bearer',
      `Basic ${key}`,
      `Bearer ${key}0`,
      `Bearer ${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`,
      `Bearer ${adminSecret('test', new Uint8Array(32))}`,
      `Bearer ${adminSecret('live', new Uint8Array(32))}`,
    ])
      expectRefused(await attempt(authorization === undefined ? {} : { authorization }));
    expect((await attempt({ authorization: `bearer ${key}` })).status).toBe(200);
  });

  it('may do no more than the role of their person, also after it changed', async () => {
    const admin = await app.newAdmin({ scopes: ['payouts:read', 'system:write'] });
    expect((await whoami(admin)).json<Whoami>().scopes).toEqual(['payouts:read', 'system:write']);
    await run(new UpdateOperator(admin.operatorId, { role: 'support' }));
    await eventually(async () => (await whoami(admin)).json<Whoami>().scopes.length === 1);
    expect((await whoami(admin)).json<Whoami>().scopes).toEqual(['payouts:read']);
    const viewer = await app.newAdmin({ role: 'viewer' });
    expect((await whoami(viewer)).json<Whoami>().scopes).toEqual(ROLE_SCOPES.viewer);
    await run(new UpdateOperator(viewer.operatorId, { role: 'administrator' }));
    await eventually(async () => (await whoami(viewer)).json<{ role: string }>().role === 'administrator');
    expect((await whoami(viewer)).json<Whoami>().scopes).toEqual(ROLE_SCOPES.viewer);
  });

  it('stop with their person, and work again when it is enabled', async () => {
    const admin = await app.newAdmin();
    const second = await app.newAdmin({ operatorId: admin.operatorId });
    await run(new UpdateOperator(admin.operatorId, { status: 'disabled' }));
    await Promise.all([becomes(admin, 401), becomes(second, 401)]);
    await expect(app.newAdmin({ operatorId: admin.operatorId })).rejects.toThrow('The operator is disabled');
    await run(new UpdateOperator(admin.operatorId, { status: 'active' }));
    await becomes(admin, 200);
  });

  it('are dead until they are approved, and once they are revoked or over', async () => {
    const admin = await app.newAdmin();
    const { operatorId, baseUrl } = admin;
    const order = {
      operatorId,
      name: 'second',
      scopes: null,
      merchants: null,
      addresses: [],
      expiresAt: null,
    };
    const id = newId();
    const { secret } = await run<{ secret: string }>(new IssueAdminKey(id, order, true));
    const second = new AdminClient(baseUrl, secret, operatorId);
    expectRefused(await whoami(second));
    await run(new ActivateAdminKey(id));
    await becomes(second, 200);
    await run(new RevokeAdminKey(id));
    await becomes(second, 401);
    const expiring = await app.newAdmin({ expiresAt: new Date(Date.now() + 3000).toISOString() });
    expect((await whoami(expiring)).status).toBe(200);
    await becomes(expiring, 401);
  });

  it('are replaced with an overlap', async () => {
    const admin = await app.newAdmin({ scopes: ['payouts:read'] });
    const keyId = await credentialOf(admin);
    const newKeyId = newId();
    const { secret } = await run<{ secret: string }>(new RollAdminKey(keyId, newKeyId, 2));
    const next = new AdminClient(admin.baseUrl, secret, admin.operatorId);
    expect((await whoami(next)).json<Whoami>()).toMatchObject({
      actor: { credential_id: newKeyId },
      scopes: ['payouts:read'],
    });
    expect((await run<{ secret: string }>(new RollAdminKey(keyId, newKeyId, 2))).secret).toBe(secret);
    await expect(run(new RollAdminKey(keyId, newId(), 2))).rejects.toThrow('The credential is');
    await becomes(admin, 401);
    expect((await whoami(next)).status).toBe(200);
  });

  it('may be confined to addresses', async () => {
    const elsewhere = await app.newAdmin({ addresses: ['203.0.113.0/24'] });
    expect((await whoami(elsewhere)).status).toBe(403);
    const here = await app.newAdmin({ addresses: ['127.0.0.1'] });
    expect((await whoami(here)).status).toBe(200);
  });

  it('are counted, 600 requests a minute each', async () => {
    const { baseUrl, key } = await app.newAdmin();
    const headers = { authorization: `Bearer ${key}` };
    const statuses: number[] = [];
    for (let round = 0; round < 61; round += 1) {
      const calls = Array.from({ length: 10 }, () => send(`${baseUrl}/admin/v1/whoami`, { headers }));
      statuses.push(...(await Promise.all(calls)).map(({ status }) => status));
    }
    expect(statuses.filter((status) => status === 200)).toHaveLength(600);
    expect(statuses.filter((status) => status === 429)).toHaveLength(10);
  });

  it('belong to persons whose emails differ', async () => {
    const email = `${newId()}@ops.example`;
    await run(new CreateOperator(newId(), { name: 'One', email, role: 'viewer' }));
    const again = new CreateOperator(newId(), { name: 'Two', email: email.toUpperCase(), role: 'viewer' });
    await expect(run(again)).rejects.toThrow('is used by another operator');
  });

  it('are served on the listener of the admin API alone', async () => {
    const { key, baseUrl } = await app.newAdmin();
    const headers = { authorization: `Bearer ${key}` };
    expect((await send(`${app.url}/admin/v1/whoami`, { headers })).status).toBe(404);
    expect((await send(`${baseUrl}/merchants/v1/users`, { headers })).status).toBe(404);
  });
});
