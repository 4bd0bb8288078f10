import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { AdminClient } from '../../support/admin/admin-client.js';
import { onSharedApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { SignedClient } from '../../support/http/signed-client.js';

/** A signed call that finds nothing: 404 says that the merchant was let in. */
const PATH = `/merchants/v1/users/${randomUUID()}`;
const reason = 'requested by a suite';

interface Written {
  readonly merchant: { readonly id: string };
  readonly credential: { readonly id: string; readonly secret: string };
  readonly operation: { readonly id: string };
}

describe('operators, over the admin API,', () => {
  const app = onSharedApp();
  let [ada, bob]: AdminClient[] = [];

  beforeAll(async () => {
    [ada, bob] = [await app.newAdmin(), await app.newAdmin()];
  });

  const created = async (name: string): Promise<readonly [id: string, key: string]> => {
    const { merchant } = (await ada!.post('/merchants', { name, reason })).json<Written>();
    const body = { kind: 'payouts', name: 'first', merchant_id: merchant.id, reason };
    const { credential } = (await ada!.post('/credentials', body)).json<Written>();
    return [merchant.id, credential.secret];
  };
  const statusFor = async (apiKey: string, privateKey: string): Promise<number> =>
    (await new SignedClient(app.url, { apiKey, privateKey }).get(PATH)).status;
  const becomes = (apiKey: string, privateKey: string, status: number): Promise<true> =>
    eventually(async () => (await statusFor(apiKey, privateKey)) === status);

  it('get the private key of a new merchant, which works at once, and keep it out of the database', async () => {
    const [id, key] = await created('Acme Inc.');
    await becomes(id, key, 404);
    expect(await statusFor(app.merchant.credentials.apiKey, key)).toBe(401);
    const rows = await app.database.query<{ text: string }>(
      `select (select string_agg(k::text, ' ') from access.credentials k) ||
              (select string_agg(e::text, ' ') from event_store.events e) as text`,
    );
    expect(rows[0]!.text).toContain(id);
    expect(key).toMatch(/^dsk_[0-9a-f]{64}$/);
    expect(rows[0]!.text).not.toContain(key.slice('dsk_'.length));
  });

  it('suspend, reinstate and restrict a merchant', async () => {
    const [id, key] = await created('Beta');
    await ada!.change(`/merchants/${id}`, '/suspend', { reason });
    await becomes(id, key, 403);
    const waiting = await ada!.change(`/merchants/${id}`, '/reinstate', { reason });
    await bob!.post(`/operations/${waiting.json<Written>().operation.id}/approve`, { reason });
    await becomes(id, key, 404);
    const allow = async (...ip_allow_list: string[]) =>
      (await ada!.change(`/merchants/${id}`, '', { ip_allow_list, reason })).json();
    expect(await allow('203.0.113.0/24', '198.51.100.7')).toMatchObject({
      merchant: { ip_allow_list: ['198.51.100.7/32', '203.0.113.0/24'] },
    });
    await becomes(id, key, 403);
    expect(await allow()).toMatchObject({ merchant: { ip_allow_list: [] } });
    await becomes(id, key, 404);
  });

  it('deactivate a user', async () => {
    const response = await app.merchant.post('/merchants/v1/users', { phone_number: '+15550001111' });
    const { id } = response.json<{ user: { id: string } }>().user;
    const refused = await ada!.change(`/users/${id}`, '/deactivate', { reason: 'x'.repeat(501) });
    expect(refused.text).toContain('3 to 500');
    await ada!.change(`/users/${id}`, '/deactivate', { reason: 'ticket 7' });
    await eventually(async () => {
      const got = await app.merchant.get(`/merchants/v1/users/${id}`);
      return got.json<{ user: { account_state: string } }>().user.account_state === 'deactivated';
    });
  });
});
