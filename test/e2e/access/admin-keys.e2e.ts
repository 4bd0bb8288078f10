import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { newId } from '../../../src/kernel/ids.js';
import { CredentialDirectory } from '../../../src/contexts/access/application/credential-directory.js';
import { AdminClient } from '../../support/admin/admin-client.js';
import { onSharedApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import type { ApiResponse } from '../../support/http/signed-client.js';

const reason = 'a test of admin keys';
const [HOUR_MS, DAY_MS] = [3_600_000, 86_400_000];

interface Issued {
  readonly credential: { readonly id: string; readonly secret: string | null };
  readonly operation: { readonly id: string };
}

describe('an admin key', () => {
  const app = onSharedApp();
  let admin: AdminClient;
  let approver: AdminClient;
  beforeAll(async () => {
    [admin, approver] = [await app.newAdmin(), await app.newAdmin()];
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  const issue = (body: object, idempotencyKey = newId()): Promise<ApiResponse> =>
    admin.post('/credentials', { name: 'server', reason, ...body }, { idempotencyKey });
  const idOf = async (client: AdminClient): Promise<string> =>
    (await client.get('/whoami')).json<{ actor: { credential_id: string } }>().actor.credential_id;
  const holderOf = (key: string) => app.app.get(CredentialDirectory, { strict: false }).findAdminKey(key);

  it('says when it was used last, and its revision stays', async () => {
    const client = await app.newAdmin();
    const list = await admin.get(`/credentials?operator_id=${client.operatorId}`);
    const [{ id } = { id: '' }] = list.json<{ credentials: { id: string }[] }>().credentials;
    const read = async () => {
      const response = await admin.get(`/credentials/${id}`);
      const { credential } = response.json<{ credential: { last_used_at: string | null } }>();
      return { etag: response.headers['etag'], usedAt: credential.last_used_at };
    };
    expect(await read()).toEqual({ etag: '"0"', usedAt: null });
    expect((await client.get('/whoami')).status).toBe(200);
    await eventually(async () => (await read()).usedAt !== null);
    expect((await read()).etag).toBe('"0"');
    // What was read before the use is still what is written.
    const revoked = await admin.call({
      method: 'POST',
      path: `/credentials/${id}/revoke`,
      body: { reason },
      ifMatch: '"0"',
    });
    expect(revoked.status).toBe(200);
  });

  it.each<[string, number, (secret: string) => string | null]>([
    ['has its secret in replays of its response for 24 hours', DAY_MS - HOUR_MS, (secret) => secret],
    ['has no secret in replays from then on', DAY_MS, () => null],
  ])('%s', async (_, ageMs, displayed) => {
    const [key, body] = [newId(), { kind: 'admin', scopes: ['payouts:read'] }];
    const issuedAt = Date.now() - ageMs;
    jest.spyOn(Date, 'now').mockReturnValue(issuedAt);
    const first = await issue(body, key);
    jest.restoreAllMocks();
    const { credential } = first.json<Issued>();
    const replay = await issue(body, key);
    expect([replay.status, replay.headers['idempotent-replayed']]).toEqual([first.status, 'true']);
    expect(replay.json()).toEqual({
      ...first.json<object>(),
      credential: { ...credential, secret: displayed(credential.secret!) },
    });
  });

  it('is of its person, with what it may do and for whom', async () => {
    const merchants = [app.merchant.credentials.apiKey];
    const confined = await app.newAdmin({ role: 'support', merchants });
    const holder = await holderOf(confined.key);
    expect(holder).toMatchObject({
      operatorId: confined.operatorId,
      name: 'Test operator',
      role: 'support',
      credentialId: await idOf(confined),
      merchants,
    });
    expect([holder!.scopes.has('users:write'), holder!.scopes.has('audit:read')]).toEqual([true, false]);
    expect((await holderOf((await app.newAdmin({ scopes: ['audit:read'] })).key))!.scopes).toEqual(
      new Set(['audit:read']),
    );
  });

  it('is of no person before it is approved, once it is revoked, with a wrong check, and of one who is disabled', async () => {
    const { credential, operation } = (await issue({ kind: 'admin' })).json<Issued>();
    expect(await holderOf(credential.secret!)).toBeNull();
    await approver.post(`/operations/${operation.id}/approve`, { reason });
    await eventually(async () => (await holderOf(credential.secret!)) !== null);
    const wrongCheck = credential.secret!.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    expect(await holderOf(wrongCheck)).toBeNull();
    expect((await admin.change(`/credentials/${credential.id}`, '/revoke', { reason })).status).toBe(200);
    await eventually(async () => (await holderOf(credential.secret!)) === null);

    const { key, operatorId } = await app.newAdmin();
    expect(await holderOf(key)).not.toBeNull();
    const disabled = await admin.change(`/operators/${operatorId}`, '', { status: 'disabled', reason });
    expect(disabled.status).toBe(200);
    await eventually(async () => (await holderOf(key)) === null);
  });
});
