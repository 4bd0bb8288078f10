import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { ROLE_SCOPES, ROLES, type Role } from '../../../src/contexts/access/operators/roles.js';
import { AdminClient } from '../../support/admin/admin-client.js';
import { testApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import type { ApiResponse } from '../../support/http/signed-client.js';

const reason = 'a test of own admin keys';
const HOUR_MS = 3_600_000;

const app = await testApp();
const approver = await app.newAdmin();

describe('the admin keys of one operator', () => {
  const issue = (by: AdminClient, body: object = {}, idempotencyKey: string = randomUUID()) =>
    by.post('/credentials', { kind: 'admin', name: 'next', reason, ...body }, { idempotencyKey });
  const idOf = async (client: AdminClient): Promise<string> =>
    (await client.get('/whoami')).json().actor.credential_id;
  const roll = async (by: AdminClient, key: AdminClient, options: object = {}): Promise<ApiResponse> => {
    const path = `/credentials/${await idOf(key)}`;
    const ifMatch = String((await approver.get(path)).headers['etag']);
    return by.post(`${path}/roll`, { reason }, { ifMatch, ...options });
  };
  const detailOf = (response: ApiResponse) => [response.status, response.json().detail];
  const approved = async (response: ApiResponse, by: AdminClient): Promise<AdminClient> => {
    const { credential, operation } = response.json();
    expect((await approver.post(`/operations/${operation.id}/approve`, { reason })).status).toBe(200);
    const client = new AdminClient(by.baseUrl, credential.secret, by.operatorId);
    await eventually(async () => (await client.get('/whoami')).status === 200);
    return client;
  };

  it.each(ROLES)('can be issued, rolled and withdrawn by a %s within its scopes', async (role: Role) => {
    const person = await app.newAdmin({ role });
    const next = await approved(await issue(person), person);
    expect((await next.get('/whoami')).json()).toMatchObject({ scopes: ROLE_SCOPES[role] });
    expect((await roll(person, next)).status).toBe(201);
    expect((await roll(next, person)).status).toBe(403);
    const unwanted = (await issue(person)).json();
    const withdrawn = await person.post(`/operations/${unwanted.operation.id}/reject`, { reason });
    expect(withdrawn.json().operation.status).toBe('withdrawn');
    const { credential } = (await approver.get(`/credentials/${unwanted.credential.id}`)).json();
    expect(credential.status).toBe('revoked');
    if (role === 'administrator') return;
    expect(detailOf(await issue(person, { scopes: ['operators:write'] }))).toEqual([
      403,
      'The scope operators:write is missing',
    ]);
    const merchant_id = app.merchant.credentials.apiKey;
    expect(detailOf(await issue(person, { kind: 'payouts', merchant_id }))).toEqual([
      403,
      'The scope credentials:write is missing',
    ]);
    expect((await issue(person, { kind: 'payouts', merchant_id: randomUUID() })).status).toBe(403);
  });

  it('can be rolled by a key of the same operator with their scopes, and by no other operator', async () => {
    const full = await app.newAdmin();
    const own = { operatorId: full.operatorId };
    const [reader, audits] = [
      await app.newAdmin({ ...own, scopes: ['payouts:read'] }),
      await app.newAdmin({ ...own, scopes: ['audit:read'] }),
    ];
    expect(detailOf(await roll(audits, reader))).toEqual([403, 'The scope payouts:read is missing']);
    expect((await roll(approver, reader)).status).toBe(403);
    expect((await roll(full, reader)).status).toBe(201);
    expect((await roll(audits, audits)).status).toBe(201);
  });

  const later = (ms: number): string => new Date(Date.now() + ms).toISOString();
  const own = app.merchant.credentials.apiKey;
  const both = [own, app.secondMerchant.credentials.apiKey];

  it.each([
    ['merchants', () => ({ merchants: [own] }), { merchants: both }, { merchants: [own] }],
    [
      'addresses',
      () => ({ addresses: ['127.0.0.0/8', '::1/128'] }),
      { addresses: ['127.0.0.0/7'] },
      { addresses: ['127.0.0.1', '::1'] },
    ],
    [
      'expires_at',
      () => ({ expiresAt: later(HOUR_MS) }),
      { expires_at: later(2 * HOUR_MS) },
      { expires_at: later(HOUR_MS / 2) },
    ],
  ])('cannot issue or roll a key beyond their own %s', async (what, terms, wider, narrower) => {
    const free = await app.newAdmin();
    const bound = await app.newAdmin({ operatorId: free.operatorId, ...terms() });
    const detail = `The key would exceed the ${what} of the key that requests it`;
    expect(detailOf(await issue(bound))).toEqual([403, detail]);
    expect(detailOf(await roll(bound, free))).toEqual([403, detail]);
    // A merchant outside the key's reach is 404.
    expect([403, 404]).toContain((await issue(bound, wider)).status);
    const next = await approved(await issue(bound, narrower), bound);
    expect((await roll(bound, next)).status).toBe(201);
    expect((await roll(bound, bound)).status).toBe(201);
    expect((await roll(free, free)).status).toBe(201);
  });

  it('cannot issue or roll a key after their own roll, because the new key would outlive them', async () => {
    const old = await app.newAdmin();
    expect((await roll(old, old)).status).toBe(201);
    await eventually(async () => (await issue(old)).status === 403);
    const other = await app.newAdmin({ operatorId: old.operatorId });
    expect((await roll(old, other)).status).toBe(403);
  });

  it.each([
    ['scope', () => ({ scopes: ['credentials:write', 'credentials:read'] })],
    ['merchant', () => ({ merchants: [app.merchant.credentials.apiKey] })],
    ['address', () => ({ addresses: ['127.0.0.0/8', '::1/128'] })],
  ])('return no secret in a replay to a key that lacks a %s of the first key', async (_, terms) => {
    const full = await app.newAdmin();
    const less = await app.newAdmin({ operatorId: full.operatorId, ...terms() });
    const key = randomUUID();
    const { secret } = (await issue(full, {}, key)).json().credential;
    expect((await issue(full, {}, key)).text).toContain(secret);
    const replay = await issue(less, {}, key);
    expect([replay.status, replay.text.includes('dsb_')]).toEqual([403, false]);
    const target = await app.newAdmin({ operatorId: full.operatorId });
    const options = { idempotencyKey: randomUUID() };
    const rolled = (await roll(full, target, options)).json().credential;
    expect((await roll(full, target, options)).text).toContain(rolled.secret);
    const again = await roll(less, target, options);
    expect([again.status, again.text.includes('dsb_')]).toEqual([403, false]);
  });

  it('are not visible to a key of the same operator that is confined to one merchant', async () => {
    const merchants = [app.merchant.credentials.apiKey];
    const wide = await app.newAdmin();
    const confined = await app.newAdmin({ operatorId: wide.operatorId, merchants });
    const status = async (of: typeof wide): Promise<number> =>
      (await confined.get(`/credentials/${await idOf(of)}`)).status;
    expect([await status(wide), await status(confined)]).toEqual([404, 200]);
  });

  it('need an approver with credentials:write, and are refused if the role of their owner was lowered', async () => {
    const support = await app.newAdmin({ role: 'support' });
    const { operation } = (await issue(support)).json();
    const another = await app.newAdmin({ role: 'support' });
    expect(detailOf(await another.post(`/operations/${operation.id}/approve`, { reason }))).toEqual([
      403,
      'The scope credentials:write is missing',
    ]);
    const lowered = { role: 'viewer', reason };
    expect((await approver.change(`/operators/${support.operatorId}`, '', lowered)).status).toBe(200);
    expect((await approver.post(`/operations/${operation.id}/approve`, { reason })).status).toBe(409);
  });
});
