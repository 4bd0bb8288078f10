import { describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/kernel/ids.js';
import { LookupsView } from '../../../src/contexts/operations/search/lookups.view.js';
import { sharedApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import type { ApiResponse } from '../../support/http/signed-client.js';
import { confirmed, onboardersIn, submitted } from '../../support/onboarding/onboard.js';
import { randomPhone } from '../../support/payouts/payout-calls.js';

interface UserJson extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly account_state: string;
  readonly onboarding: Readonly<Record<string, unknown>>;
}
const WHY = { reason: 'requested by the merchant', ticket: 'T-1' };

const app = await sharedApp();
const [admin, approver, viewer] = await Promise.all([
  app.newAdmin(),
  app.newAdmin(),
  app.newAdmin({ role: 'viewer' }),
]);
const { merchant } = app;
const merchantId = merchant.credentials.apiKey;
const onboarders = onboardersIn(app);

describe('users in the admin API', () => {
  const create = async (by = merchant, body: object = {}): Promise<UserJson> => {
    const response = await by.post('/merchants/v1/users', { phone_number: randomPhone(), ...body });
    expect(response.status).toBe(201);
    return response.json().user;
  };
  const activate = (id: string): Promise<ApiResponse> =>
    merchant.post(`/merchants/v1/sandbox/users/${id}/complete_onboarding`);
  const get = async (id: string, by = admin): Promise<UserJson> => {
    const response = await by.get(`/users/${id}`);
    expect(response.status).toBe(200);
    return response.json().user;
  };
  const list = async (query: string, by = admin): Promise<readonly string[]> => {
    const response = await by.get(`/users?${query}`);
    expect(response.status).toBe(200);
    return response.json().users.map(({ id }: UserJson) => id);
  };
  const write = (id: string, action: string, body: object = WHY, by = admin): Promise<ApiResponse> =>
    by.change(`/users/${id}`, `/${action}`, body);
  const deactivated = async (id: string): Promise<void> => {
    expect((await write(id, 'deactivate')).status).toBe(200);
    await eventually(async () => (await get(id)).account_state === 'deactivated');
  };

  it('GET users/{id}: returns the user with the onboarding, and personal data only with users_personal:read', async () => {
    const created = await create(merchant, { email: 'ada@example.com', external_id: `c-${newId()}` });
    const response = await admin.get(`/users/${created.id}`);
    expect(response.headers['etag']).toBe('"0"');
    expect(response.json().user).toEqual({
      ...created,
      merchant_id: merchantId,
      onboarding: { stage: 'not_started', waiting_for: 'person', reason: null, next_at: null },
    });
    expect(await get(created.id, viewer)).toEqual({
      ...response.json().user,
      phone_number: null,
      email: null,
    });
    const { lookups } = await app.app.get(LookupsView, { strict: false }).page(merchantId, { page_size: 10 });
    expect(JSON.stringify(lookups)).toContain(`user ${created.id}`);
    expect((await activate(created.id)).status).toBe(200);
    const active = await get(created.id);
    expect(active).toMatchObject({
      account_state: 'active',
      issuer_wallet_address: expect.stringMatching(/^0x/),
      onboarding: { stage: 'completed', waiting_for: 'nothing' },
    });
    const etag = (await admin.get(`/users/${created.id}`)).headers['etag'];
    expect(Number(etag!.replaceAll('"', ''))).toBeGreaterThan(5);
  });

  it('GET users: filters by merchant, external id, wallet, state and phone number, newest first', async () => {
    const other = await app.newMerchant();
    const otherId = other.credentials.apiKey;
    const [phone, external_id] = [randomPhone(), `c-${newId()}`];
    const one = await create(other, { phone_number: phone, external_id });
    const two = await create(other);
    const three = await create(merchant, { phone_number: phone, external_id });
    await activate(three.id);
    const wallet = (await get(three.id))['issuer_wallet_address'] as string;
    await eventually(async () => (await list(`wallet=${wallet.toLowerCase()}`)).length === 1);
    expect(await list(`merchant_id=${otherId}`)).toEqual([two.id, one.id]);
    const first = (await admin.get(`/users?merchant_id=${otherId}&page_size=1`)).json();
    expect(first.users.map(({ id }: UserJson) => id)).toEqual([two.id]);
    expect(await list(`merchant_id=${otherId}&page_cursor=${first.next_cursor}`)).toEqual([one.id]);
    expect(await list(`external_id=${external_id}&state=active`)).toEqual([three.id]);
    expect(await list(`phone_number=${encodeURIComponent(phone)}`)).toEqual([three.id, one.id]);
    expect(await list(`phone_number=${phone}&merchant_id=${otherId}`)).toEqual([one.id]);
    const confined = await app.newAdmin({ merchants: [otherId] });
    expect(await list('', confined)).toEqual([two.id, one.id]);
    expect(await list(`external_id=${external_id}`, confined)).toEqual([one.id]);
    const seen = (await admin.get(`/users?merchant_id=${otherId}`)).json().users[1];
    expect(seen).toEqual(await get(one.id));
    const hidden = (await viewer.get(`/users?merchant_id=${otherId}`)).json().users[1];
    expect(hidden).toEqual({ ...seen, phone_number: null, email: null });
  });

  it('GET users: 403 for a filter by phone number without users_personal:read, 400 for an invalid filter', async () => {
    const refused = await viewer.get(`/users?phone_number=${encodeURIComponent(randomPhone())}`);
    expect([refused.status, refused.json().detail]).toEqual([
      403,
      expect.stringContaining('users_personal:read'),
    ]);
    for (const query of ['state=gone', 'phone_number=12', 'wallet=0x1', 'page_size=0', 'email=a@b.c'])
      expect((await admin.get(`/users?${query}`)).status).toBe(400);
  });

  it('POST deactivate: requires the revision that was read, a reason and the scope to write', async () => {
    const { id } = await create();
    const path = `/users/${id}/deactivate`;
    expect((await admin.post(path, WHY)).status).toBe(428);
    expect((await admin.post(path, WHY, { ifMatch: '"7"' })).status).toBe(412);
    expect((await admin.post(path, {}, { ifMatch: '"0"' })).status).toBe(422);
    expect((await viewer.post(path, WHY, { ifMatch: '"0"' })).status).toBe(403);
    const done = await write(id, 'deactivate');
    expect(done.status).toBe(200);
    const { user, operation_id } = done.json();
    expect(user).toMatchObject({ id, phone_number: null });
    // A worker completes it at once if no payout is pending.
    expect(['deactivating', 'deactivated']).toContain(user['account_state']);
    expect((await admin.get(`/operations/${operation_id}`)).json().operation).toMatchObject({
      name: 'users.deactivate',
      status: 'executed',
      subject: { kind: 'user', id, revision: 0 },
      parameters: {},
      ...WHY,
    });
    await eventually(async () => (await get(id)).account_state === 'deactivated');
    expect((await get(id)).onboarding).toMatchObject({ stage: 'ended', waiting_for: 'nothing' });
    expect((await write(id, 'deactivate')).status).toBe(409);
  });

  it('POST erase: requires a deactivated user and a second operator, and removes the personal data', async () => {
    const phone = randomPhone();
    const { id } = await create(merchant, { phone_number: phone, email: 'ada@example.com' });
    expect((await write(id, 'erase')).status).toBe(409);
    await deactivated(id);
    const pending = await write(id, 'erase');
    expect(pending.status).toBe(202);
    const { operation } = pending.json();
    expect(operation).toMatchObject({ name: 'users.erase', status: 'pending_approval' });
    expect((await get(id)).account_state).toBe('deactivated');
    const decision = { reason: 'the request was verified' };
    expect((await admin.post(`/operations/${operation.id}/approve`, decision)).status).toBe(403);
    expect((await approver.post(`/operations/${operation.id}/approve`, decision)).status).toBe(200);
    expect(await get(id)).toMatchObject({ account_state: 'erased', phone_number: null, email: null });
    expect((await merchant.get(`/merchants/v1/users/${id}`)).status).toBe(404);
    expect(await list(`merchant_id=${merchantId}&state=erased`)).toEqual([id]);
    expect(await list(`phone_number=${encodeURIComponent(phone)}`)).toEqual([]);
    expect((await write(id, 'erase')).status).toBe(409);
  });

  it('POST retry: retries a step that waits for the service; a step that waits for the person gets 409', async () => {
    const waiting = await submitted(onboarders, 'Review', merchantId);
    await eventually(async () => (await get(waiting)).onboarding['waiting_for'] === 'review');
    expect((await get(waiting)).onboarding['next_at']).toEqual(expect.any(String));
    const retried = await write(waiting, 'retry');
    expect(retried.status).toBe(200);
    expect(retried.json()).toMatchObject({
      user: { id: waiting, account_state: 'onboarding' },
      operation_id: expect.any(String),
    });
    const person = await confirmed(onboarders, 'Lovelace', merchantId);
    expect((await get(person)).onboarding).toMatchObject({
      stage: 'details_confirmed',
      waiting_for: 'person',
    });
    expect((await write(person, 'retry')).status).toBe(409);
  });

  it('POST review: approves or rejects an identity under review, and gets 409 after the decision', async () => {
    const [good, bad] = [
      await submitted(onboarders, 'Review', merchantId),
      await submitted(onboarders, 'Review', merchantId),
    ];
    for (const id of [good, bad])
      await eventually(async () => (await get(id)).onboarding['waiting_for'] === 'review');
    expect((await write(good, 'review', { ...WHY, decision: 'perhaps' })).status).toBe(422);
    expect((await write(good, 'review', { ...WHY, decision: 'approve' })).status).toBe(200);
    expect((await write(bad, 'review', { ...WHY, decision: 'reject' })).status).toBe(200);
    await eventually(async () => (await get(good)).account_state === 'active');
    await eventually(async () => (await get(bad)).onboarding['stage'] === 'kyc_failed');
    const { onboarding } = await get(bad);
    expect(onboarding).toMatchObject({ waiting_for: 'person', reason: expect.any(String) });
    expect(onboarding['reason']).not.toContain(WHY.reason);
    expect((await write(good, 'review', { ...WHY, decision: 'approve' })).status).toBe(409);
    const listed = (await admin.get(`/operations?subject_id=${good}`)).json<{ operations: object[] }>();
    expect(listed.operations).toMatchObject([{ name: 'users.review', status: 'executed' }]);
  });

  it('GET search: finds a user by id, external id, wallet or phone number, with no personal data in the title', async () => {
    const [phone, external_id] = [randomPhone(), `c-${newId()}`];
    const { id } = await create(merchant, { phone_number: phone, external_id });
    await activate(id);
    const wallet = (await get(id))['issuer_wallet_address'] as string;
    for (const q of [id, external_id, wallet, phone]) {
      const response = await admin.get(`/search?q=${encodeURIComponent(q)}`);
      const { results } = response.json<{ results: readonly Record<string, unknown>[] }>();
      expect(results).toContainEqual({
        kind: 'user',
        id,
        merchant_id: merchantId,
        title: `User ${external_id}, active`,
      });
    }
  });
});
