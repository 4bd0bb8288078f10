import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { CommandBus } from '@nestjs/cqrs';
import { newId } from '../../../src/kernel/ids.js';
import { sharedApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { type ApiResponse, send } from '../../support/http/signed-client.js';
import { adminSecret } from '../../../src/contexts/access/credentials/credential-secrets.service.js';
import { SCOPES } from '../../../src/contexts/access/access.contract.js';
import { UpdateOperator } from '../../../src/contexts/access/operators/operators.commands.js';
import type { AdminClient } from '../../support/admin/admin-client.js';

const reason = 'a test of admin keys';
const [HOUR_MS, DAY_MS] = [3_600_000, 86_400_000];

const app = await sharedApp();
const admin = await app.newAdmin();

describe('an admin key', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  const issue = (body: object, idempotencyKey = newId()): Promise<ApiResponse> =>
    admin.post('/credentials', { name: 'server', reason, ...body }, { idempotencyKey });

  it('has the time of its last use, and a use does not change its revision', async () => {
    const client = await app.newAdmin();
    const list = await admin.get(`/credentials?operator_id=${client.operatorId}`);
    const [{ id } = { id: '' }] = list.json<{ credentials: { id: string }[] }>().credentials;
    const read = async () => {
      const response = await admin.get(`/credentials/${id}`);
      const { credential } = response.json();
      return { etag: response.headers['etag'], usedAt: credential.last_used_at };
    };
    expect(await read()).toEqual({ etag: '"0"', usedAt: null });
    expect((await client.get('/whoami')).status).toBe(200);
    await eventually(async () => (await read()).usedAt !== null);
    expect((await read()).etag).toBe('"0"');
    // The use has not changed the revision.
    const revoked = await admin.call({
      method: 'POST',
      path: `/credentials/${id}/revoke`,
      body: { reason },
      ifMatch: '"0"',
    });
    expect(revoked.status).toBe(200);
  });

  it.each<[string, number, (secret: string) => string | null]>([
    ['has its secret in a replayed response for 24 hours', DAY_MS - HOUR_MS, (secret) => secret],
    ['has no secret in a replayed response after 24 hours', DAY_MS, () => null],
  ])('%s', async (_, ageMs, displayed) => {
    const [key, body] = [newId(), { kind: 'admin', scopes: ['payouts:read'] }];
    const issuedAt = Date.now() - ageMs;
    jest.spyOn(Date, 'now').mockReturnValue(issuedAt);
    const first = await issue(body, key);
    jest.restoreAllMocks();
    const { credential } = first.json();
    const replay = await issue(body, key);
    expect([replay.status, replay.headers['idempotent-replayed']]).toEqual([first.status, 'true']);
    expect(replay.json()).toEqual({
      ...(first.json() as object),
      credential: { ...credential, secret: displayed(credential.secret!) },
    });
  });
});

describe('the keys of operators', () => {
  const whoami = (client: AdminClient): Promise<ApiResponse> => client.get('/whoami');

  it('identify the caller and the scopes of the key', async () => {
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

  it('are required: a missing, malformed, mistyped or unknown key gets 401', async () => {
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
    ]) {
      const response = await attempt(authorization === undefined ? {} : { authorization });
      expect([response.status, response.headers['www-authenticate']]).toEqual([401, 'Bearer']);
    }
    expect((await attempt({ authorization: `bearer ${key}` })).status).toBe(200);
  });

  it('never exceed the scopes that their owner has by role, even after the role changes', async () => {
    const admin = await app.newAdmin({ scopes: ['payouts:read', 'system:write'] });
    expect((await whoami(admin)).json().scopes).toEqual(['payouts:read', 'system:write']);
    await app.app.get(CommandBus).execute(new UpdateOperator(admin.operatorId, { role: 'support' }));
    await eventually(async () => (await whoami(admin)).json().scopes.length === 1);
    expect((await whoami(admin)).json().scopes).toEqual(['payouts:read']);
  });

  it('are accepted only on the listener of the admin API', async () => {
    const { key, baseUrl } = await app.newAdmin();
    const headers = { authorization: `Bearer ${key}` };
    expect((await send(`${app.url}/admin/v1/whoami`, { headers })).status).toBe(404);
    expect((await send(`${baseUrl}/merchants/v1/users`, { headers })).status).toBe(404);
  });
});
