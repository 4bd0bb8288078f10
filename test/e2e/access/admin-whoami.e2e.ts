import { describe, expect, it } from '@jest/globals';
import { CommandBus } from '@nestjs/cqrs';
import { adminSecret } from '../../../src/contexts/access/application/credential-secrets.js';
import { ROLE_SCOPES, SCOPES } from '../../../src/contexts/access/contract.js';
import { UpdateOperator } from '../../../src/contexts/access/application/operator-commands.js';
import type { AdminClient } from '../../support/admin/admin-client.js';
import { sharedApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { send, type ApiResponse } from '../../support/http/signed-client.js';

const app = await sharedApp();

describe('the keys of operators', () => {
  const run = (command: UpdateOperator): Promise<unknown> => app.app.get(CommandBus).execute(command);
  const whoami = (client: AdminClient): Promise<ApiResponse> => client.get('/whoami');
  const expectRefused = (response: ApiResponse): void => {
    expect(response.status).toBe(401);
    expect(response.headers['www-authenticate']).toBe('Bearer');
    expect(response.json()).toMatchObject({ title: 'Unauthorized', status: 401 });
  };
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

  it('authenticate no call with a missing, malformed, mistyped or unknown key', async () => {
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
    expect((await whoami(admin)).json().scopes).toEqual(['payouts:read', 'system:write']);
    await run(new UpdateOperator(admin.operatorId, { role: 'support' }));
    await eventually(async () => (await whoami(admin)).json().scopes.length === 1);
    expect((await whoami(admin)).json().scopes).toEqual(['payouts:read']);
    const viewer = await app.newAdmin({ role: 'viewer' });
    expect((await whoami(viewer)).json().scopes).toEqual(ROLE_SCOPES.viewer);
    await run(new UpdateOperator(viewer.operatorId, { role: 'administrator' }));
    await eventually(async () => (await whoami(viewer)).json().role === 'administrator');
    expect((await whoami(viewer)).json().scopes).toEqual(ROLE_SCOPES.viewer);
  });

  it('may be confined to addresses', async () => {
    const elsewhere = await app.newAdmin({ addresses: ['203.0.113.0/24'] });
    expect((await whoami(elsewhere)).status).toBe(403);
    const here = await app.newAdmin({ addresses: ['127.0.0.1'] });
    expect((await whoami(here)).status).toBe(200);
  });

  it('are served on the listener of the admin API alone', async () => {
    const { key, baseUrl } = await app.newAdmin();
    const headers = { authorization: `Bearer ${key}` };
    expect((await send(`${app.url}/admin/v1/whoami`, { headers })).status).toBe(404);
    expect((await send(`${baseUrl}/merchants/v1/users`, { headers })).status).toBe(404);
  });
});
