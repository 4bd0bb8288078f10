import { describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/kernel/ids.js';
import { AdminClient } from '../../support/admin/admin-client.js';
import { sharedApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { SignedClient, type ApiResponse } from '../../support/http/signed-client.js';

const reason = 'a test of credentials';

interface Credential {
  readonly id: string;
  readonly secret: string;
  readonly status: string;
}
const app = await sharedApp();
const [admin, approver] = [await app.newAdmin(), await app.newAdmin()];

describe('credentials in the admin API', () => {
  const newMerchantId = async (): Promise<string> =>
    (await admin.post('/merchants', { name: 'Keys', reason })).json().merchant.id;
  const issue = async (body: object, idempotencyKey = newId()): Promise<ApiResponse> =>
    admin.post('/credentials', { name: 'server', reason, ...body }, { idempotencyKey });
  const issued = async (body: object): Promise<Credential> => {
    const response = await issue(body);
    expect(response.status).toBe(201);
    return response.json().credential;
  };
  const signs = (apiKey: string, privateKey: string, status: number): Promise<true> =>
    eventually(async () => {
      const client = new SignedClient(app.url, { apiKey, privateKey });
      return (await client.get(`/merchants/v1/users/${newId()}`)).status === status;
    });
  const statusOf = async (id: string): Promise<string> =>
    (await admin.get(`/credentials/${id}`)).json().credential.status;

  it('a private key can be issued, rolled and revoked, and a merchant has at most two valid keys', async () => {
    const merchant_id = await newMerchantId();
    const first = await issued({ kind: 'payouts', merchant_id });
    expect(first).toMatchObject({
      ...{ kind: 'payouts', name: 'server', merchant_id, operator_id: null, merchants: [merchant_id] },
      ...{ scopes: [], addresses: [], api_key: null, expires_at: null, last_used_at: null, status: 'active' },
      secret: expect.stringMatching(/^dsk_[0-9a-f]{64}$/),
    });
    await signs(merchant_id, first.secret, 404);
    expect((await admin.get(`/credentials/${first.id}`)).text).not.toContain(first.secret);
    const rolled = await admin.change(`/credentials/${first.id}`, '/roll', { reason });
    expect(rolled.status).toBe(201);
    const second = rolled.json().credential;
    await signs(merchant_id, second.secret, 404);
    await signs(merchant_id, first.secret, 404);
    expect(await statusOf(first.id)).toBe('rolling');
    expect((await issue({ kind: 'payouts', merchant_id })).status).toBe(409);
    expect((await admin.change(`/credentials/${second.id}`, '/roll', { reason })).status).toBe(409);
    expect((await admin.change(`/credentials/${first.id}`, '/revoke', { reason })).status).toBe(200);
    await signs(merchant_id, first.secret, 401);
    const third = await issued({ kind: 'payouts', merchant_id });
    const revoked = await admin.change(`/credentials/${second.id}`, '/revoke', { reason });
    expect(revoked.json()).toMatchObject({ credential: { status: 'revoked' } });
    await signs(merchant_id, second.secret, 401);
    expect((await admin.change(`/credentials/${second.id}`, '/revoke', { reason })).status).toBe(409);
    await signs(merchant_id, third.secret, 404);
  });

  it('a key that was rolled without an overlap is refused at once', async () => {
    const merchant_id = await newMerchantId();
    const old = await issued({ kind: 'payouts', merchant_id });
    const body = { overlap_seconds: 0, reason };
    const next = (await admin.change(`/credentials/${old.id}`, '/roll', body)).json().credential;
    await signs(merchant_id, old.secret, 401);
    await signs(merchant_id, next.secret, 404);
    expect(await statusOf(old.id)).toBe('expired');
    for (const overlap_seconds of [-1, 604_801])
      expect(
        (await admin.change(`/credentials/${next.id}`, '/roll', { overlap_seconds, reason })).status,
      ).toBe(422);
  });

  it('a key is refused once it has expired', async () => {
    const merchant_id = await newMerchantId();
    // Longer than a busy machine takes to issue the keys.
    const expires_at = new Date(Date.now() + 4000).toISOString();
    const [{ id, secret }, client] = await Promise.all([
      issued({ kind: 'payouts', merchant_id, expires_at }),
      app.newAdmin({ expiresAt: expires_at }),
    ]);
    await signs(merchant_id, secret, 401);
    await eventually(async () => (await client.get('/whoami')).status === 401);
    expect(await statusOf(id)).toBe('expired');
    for (const body of [{ kind: 'payouts', merchant_id }, { kind: 'admin' }])
      expect((await issue({ ...body, expires_at })).status).toBe(422);
    // No operation waits for a second person's approval.
    const { operations } = (await admin.get('/operations?status=pending_approval')).json<{
      operations: readonly { readonly name: string; readonly requested_by: { operator_id: string } }[];
    }>();
    const own = operations.filter(({ requested_by: by }) => by.operator_id === admin.operatorId);
    expect(own).not.toContainEqual(expect.objectContaining({ name: 'credentials.issue' }));
  });

  it('an admin key becomes valid with the requested scopes once another operator approves it', async () => {
    const requested = await issue({ kind: 'admin', scopes: ['payouts:read'] });
    expect(requested.status).toBe(202);
    const { credential, operation } = requested.json();
    expect(credential).toMatchObject({ status: 'pending', operator_id: admin.operatorId });
    const client = new AdminClient(admin.baseUrl, credential.secret, admin.operatorId);
    expect((await client.get('/whoami')).status).toBe(401);
    const approved = await approver.post(`/operations/${operation.id}/approve`, { reason });
    expect(approved.status).toBe(200);
    expect(approved.text).not.toContain(credential.secret);
    await eventually(async () => (await client.get('/whoami')).status === 200);
    expect((await client.get('/whoami')).json()).toMatchObject({ scopes: ['payouts:read'] });
    expect((await client.post('/credentials', { kind: 'admin', name: 'x', reason })).status).toBe(403);
  });

  it('a repeat of the request after a crash returns the secret of the new key, or null after 24 hours', async () => {
    const merchant_id = await newMerchantId();
    const key = newId();
    const { credential } = (await issue({ kind: 'payouts', merchant_id }, key)).json();
    await app.database.query('delete from event_store.responses where key = $1', [key]);
    const again = await issue({ kind: 'payouts', merchant_id }, key);
    expect(again.json().credential).toMatchObject({ id: credential.id, secret: credential.secret });
    await app.database.query('delete from event_store.responses where key = $1', [key]);
    await app.database.query(
      `update access.new_secrets set created_at = created_at - interval '24 hours' where secret_id = $1`,
      [credential.id],
    );
    const late = await issue({ kind: 'payouts', merchant_id }, key);
    expect(late.json().credential).toMatchObject({ id: credential.id, secret: null });
  });

  it('no operator can issue a key with an unknown scope, with a scope that they lack, or for another operator', async () => {
    const writer = await app.newAdmin({ scopes: ['credentials:read', 'credentials:write', 'payouts:read'] });
    const ask = async (body: object): Promise<ApiResponse> =>
      writer.post('/credentials', { kind: 'admin', name: 'more', reason, ...body });
    const refused = await ask({ scopes: ['payouts:read', 'audit:read'] });
    expect(refused.status).toBe(403);
    expect(refused.json()).toMatchObject({ detail: 'The scope audit:read is missing' });
    expect((await ask({})).status).toBe(403);
    const unknown = await ask({ scopes: ['payouts:all'] });
    expect(unknown.status).toBe(422);
    expect(unknown.json().errors).toHaveProperty('scopes');
    expect((await ask({ operator_id: admin.operatorId, scopes: [] })).status).toBe(403);
    const own = (await writer.get('/whoami')).json().actor;
    expect((await admin.change(`/credentials/${own.credential_id}`, '/revoke', { reason })).status).toBe(200);
    await eventually(async () => (await writer.get('/whoami')).status === 401);
  });

  it('revoke_leaked revokes the credential of a payouts, exchange or admin secret', async () => {
    const merchant_id = await newMerchantId();
    const payouts = await issued({ kind: 'payouts', merchant_id });
    const exchange = await issued({ kind: 'exchange', merchant_id, demands_signing: false });
    expect(exchange).toMatchObject({ demands_signing: false, memo_signing: 'contract', addresses: [] });
    const leaked = await app.newAdmin();
    const url = 'https://paste.example/1';
    for (const token of [payouts.secret, exchange.secret, leaked.key]) {
      const response = await admin.post('/credentials/revoke_leaked', { token, url, reason });
      expect(response.status).toBe(200);
      const { credential_id, operation_id } = response.json<Record<string, string>>();
      expect(await statusOf(credential_id!)).toBe('revoked');
      expect((await admin.get(`/operations/${operation_id}`)).text).not.toContain(token);
    }
    await eventually(async () => (await leaked.get('/whoami')).status === 401);
    const another = await issued({ kind: 'payouts', merchant_id });
    const where = `https://ada:pass@paste.example/2?token=${another.secret}#${another.secret}`;
    const leak = { token: another.secret, url: where, reason };
    const ended = await admin.post('/credentials/revoke_leaked', leak);
    const { operation_id: id } = ended.json<Record<string, string>>();
    expect((await admin.get(`/operations/${id}`)).json()).toMatchObject({
      operation: { parameters: { url: 'https://paste.example/2' } },
    });
    for (const body of [
      { ...leak, url: 'http://paste.example/2' },
      { ...leak, url: `https://paste.example/${another.secret}` },
      { ...leak, url, reason: `found ${another.secret}` },
      { ...leak, url, ticket: leaked.key },
      { ...leak, url, token: '   ' },
    ])
      expect((await admin.post('/credentials/revoke_leaked', body)).status).toBe(422);
    const none = await admin.post('/credentials/revoke_leaked', { token: 'dsk_none', url, reason });
    expect(none.json()).toEqual({ credential_id: null, operation_id: null });
  });

  it('a repeat under the same Idempotency-Key returns the secret, which is stored sealed', async () => {
    const merchant_id = await newMerchantId();
    const key = newId();
    const first = await issue({ kind: 'payouts', merchant_id }, key);
    const again = await issue({ kind: 'payouts', merchant_id }, key);
    expect(again.text).toBe(first.text);
    expect(again.headers['idempotent-replayed']).toBe('true');
    const { secret } = first.json().credential;
    const rows = await app.database.query<{ text: string }>(
      `select (select string_agg(r.body, ' ') from event_store.responses r) ||
              (select string_agg(e::text, ' ') from event_store.events e) ||
              (select string_agg(s::text, ' ') from access.credentials s) as text`,
    );
    expect(rows[0]!.text).not.toContain(secret);
  });

  it('credentials are listed by filters, and only for the merchants of the admin key', async () => {
    const merchant_id = await newMerchantId();
    const other = await newMerchantId();
    const { id } = await issued({ kind: 'payouts', merchant_id });
    const exchange = await issued({ kind: 'exchange', merchant_id });
    await issued({ kind: 'payouts', merchant_id: other });
    const list = async (client: AdminClient, query: string): Promise<string[]> => {
      const response = await client.get(`/credentials?${query}`);
      expect(response.status).toBe(200);
      return response.json<{ credentials: Credential[] }>().credentials.map((each) => each.id);
    };
    expect(await list(admin, `merchant_id=${merchant_id}`)).toEqual([exchange.id, id]);
    expect(await list(admin, `merchant_id=${merchant_id}&kind=payouts`)).toEqual([id]);
    expect(await list(admin, `merchant_id=${merchant_id}&status=revoked`)).toEqual([]);
    expect(await list(admin, `operator_id=${admin.operatorId}&status=active`)).not.toEqual([]);
    const confined = await app.newAdmin({ merchants: [merchant_id] });
    expect(await list(confined, '')).toEqual([exchange.id, id]);
    expect((await confined.get(`/credentials/${id}`)).status).toBe(200);
    expect((await confined.get(`/credentials?merchant_id=${other}`)).status).toBe(404);
    for (const each of [other, newId()]) {
      const body = { kind: 'payouts', name: 'server', merchant_id: each, reason };
      expect((await confined.post('/credentials', body)).status).toBe(404);
    }
    const [hidden] = await list(admin, `merchant_id=${other}`);
    expect((await confined.get(`/credentials/${hidden}`)).status).toBe(404);
    expect((await admin.get('/credentials?status=dead')).status).toBe(400);
  });
});
