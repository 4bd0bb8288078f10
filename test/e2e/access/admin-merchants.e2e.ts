import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { newId } from '../../../src/kernel/ids.js';
import { sharedApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';

const reason = 'a test of merchants';

const app = await sharedApp();
const [admin, approver] = [await app.newAdmin(), await app.newAdmin()];

describe('merchants in the admin API', () => {
  const create = async (name: string): Promise<string> => {
    const created = await admin.post('/merchants', { name, reason });
    expect(created.status).toBe(201);
    return created.json().merchant.id;
  };
  const approve = async (operation: { readonly id: string }): Promise<void> => {
    const { status } = await approver.post(`/operations/${operation.id}/approve`, { reason });
    expect(status).toBe(200);
  };

  it('a merchant is created without a key, and only once under one Idempotency-Key', async () => {
    const idempotencyKey = newId();
    const body = { name: 'Acme', reason, ticket: 'OPS-1' };
    const created = await admin.post('/merchants', body, { idempotencyKey });
    expect(created.status).toBe(201);
    const { merchant, operation_id } = created.json();
    expect(merchant).toEqual({
      id: expect.any(String),
      name: 'Acme',
      status: 'active',
      ip_allow_list: [],
      embedding: { origins: [], callbacks: [], display_name: null },
      limits: { requests_per_minute: 1_000_000 },
      created_at: expect.any(String),
    });
    expect((await admin.post('/merchants', body, { idempotencyKey })).text).toBe(created.text);
    const operation = await admin.get(`/operations/${operation_id}`);
    expect(operation.json()).toMatchObject({
      operation: { name: 'merchants.register', status: 'executed', ticket: 'OPS-1', reason },
    });
    const keys = await admin.get(`/credentials?merchant_id=${merchant.id}`);
    expect(keys.json()).toMatchObject({ credentials: [] });
    expect((await admin.post('/merchants', { name: ' ', reason })).status).toBe(422);
    expect((await admin.post('/merchants', { name: 'No reason' })).status).toBe(422);
  });

  it('merchants are listed by status and name', async () => {
    const name = `Listed ${randomUUID()}`;
    const ids = [await create(`${name} a`), await create(`${name} b`)];
    const list = async (query: string): Promise<string[]> => {
      const response = await admin.get(`/merchants?${query}`);
      expect(response.status).toBe(200);
      return response.json<{ merchants: { id: string }[] }>().merchants.map(({ id }) => id);
    };
    const named = `name=${encodeURIComponent(name.toUpperCase())}`;
    expect(await list(named)).toEqual([...ids].reverse());
    expect(await list(`${named}&page_size=1`)).toEqual([ids[1]]);
    expect(await list(`${named}&status=suspended`)).toEqual([]);
    expect((await admin.get('/merchants?nmae=x')).status).toBe(400);
    expect((await admin.get('/merchants?name=a%00b')).status).toBe(400);
    expect((await admin.get('/merchants?status=gone')).status).toBe(400);
    const confined = await app.newAdmin({ merchants: [ids[0]!] });
    const seen = (await confined.get(`/merchants?${named}`)).json<{ merchants: { id: string }[] }>();
    expect(seen.merchants.map(({ id }) => id)).toEqual([ids[0]]);
    expect((await confined.get(`/merchants/${ids[1]}`)).status).toBe(404);
    expect((await confined.post('/merchants', { name, reason })).status).toBe(403);
  });

  it('settings can be changed only at the revision that was read', async () => {
    const id = await create('Settings');
    const path = `/merchants/${id}`;
    const { headers } = await admin.get(path);
    const ifMatch = headers['etag']!;
    const change = {
      name: 'Renamed',
      ip_allow_list: ['203.0.113.7'],
      embedding: { origins: ['https://a.example'], display_name: 'Shown' },
      reason,
    };
    expect((await admin.call({ method: 'PATCH', path, body: change })).status).toBe(428);
    const changed = await admin.call({ method: 'PATCH', path, body: change, ifMatch });
    expect(changed.status).toBe(200);
    expect(changed.json()).toMatchObject({
      merchant: {
        name: 'Renamed',
        ip_allow_list: ['203.0.113.7/32'],
        embedding: { origins: ['https://a.example'], callbacks: [], display_name: 'Shown' },
      },
    });
    expect((await admin.call({ method: 'PATCH', path, body: change, ifMatch })).status).toBe(412);
    for (const wrong of [
      { ip_allow_list: ['nowhere'] },
      { embedding: { origins: ['https://*.example'] } },
      { limits: { requests_per_minute: 0 } },
      { name: '' },
    ]) {
      expect((await admin.change(path, '', { ...wrong, reason })).status).toBe(422);
    }
    expect((await admin.get(`/merchants/${newId()}`)).status).toBe(404);
  });

  it('a lower limit applies at once, a higher limit only after another operator approves it', async () => {
    const { apiKey } = app.secondMerchant.credentials;
    const path = `/merchants/${apiKey}`;
    const policy = async (): Promise<string | undefined> =>
      (await app.secondMerchant.get(`/merchants/v1/users/${newId()}`)).headers['ratelimit-policy'];
    const lowered = await admin.change(path, '', { limits: { requests_per_minute: 50_000 }, reason });
    expect(lowered.status).toBe(200);
    expect(lowered.json()).toMatchObject({ merchant: { limits: { requests_per_minute: 50_000 } } });
    await eventually(async () => (await policy()) === '"merchant";q=50000;w=60');
    const raised = await admin.change(path, '', {
      name: 'With it',
      limits: { requests_per_minute: 60_000 },
      reason,
    });
    expect(raised.status).toBe(202);
    expect((await admin.get(path)).json()).toMatchObject({
      merchant: { name: 'Test merchant', limits: { requests_per_minute: 50_000 } },
    });
    await approve(raised.json().operation);
    await eventually(async () => (await policy()) === '"merchant";q=60000;w=60');
    expect((await admin.get(path)).json()).toMatchObject({ merchant: { name: 'With it' } });
  });

  it('a suspension applies at once and ends only after another operator approves its end', async () => {
    const merchant = await app.newMerchant();
    const path = `/merchants/${merchant.credentials.apiKey}`;
    const becomes = (status: number): Promise<true> =>
      eventually(async () => (await merchant.get(`/merchants/v1/users/${newId()}`)).status === status);
    await becomes(404);
    const suspended = await admin.change(path, '/suspend', { reason });
    expect(suspended.status).toBe(200);
    const { operation_id } = suspended.json();
    expect(suspended.json()).toMatchObject({ merchant: { status: 'suspended' } });
    await becomes(403);
    expect((await admin.get(`/operations/${operation_id}`)).json()).toMatchObject({
      operation: { status: 'unconfirmed', approval: 'required' },
    });
    expect((await admin.change(path, '/suspend', { reason })).status).toBe(409);
    expect((await approver.post(`/operations/${operation_id}/confirm`, { reason })).status).toBe(200);
    const reinstated = await admin.change(path, '/reinstate', { reason });
    expect(reinstated.status).toBe(202);
    expect((await merchant.get(`/merchants/v1/users/${newId()}`)).status).toBe(403);
    await approve(reinstated.json().operation);
    await becomes(404);
    expect((await admin.change(path, '/reinstate', { reason })).status).toBe(409);
  });
});
