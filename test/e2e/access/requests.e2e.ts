import { createHash, randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { sharedApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';

interface Row {
  readonly [column: string]: unknown;
  readonly merchant_id: string;
  readonly credential_id: string | null;
  readonly string_to_sign: string | null;
}

const app = await sharedApp();

describe('the log of requests', () => {
  /** The row of the request with this response. */
  const logged = async (headers: Readonly<Record<string, string>>): Promise<Row> => {
    const sql = 'select * from access.requests where request_id = $1';
    let rows: Row[] = [];
    await eventually(async () => {
      rows = await app.database.query<Row>(sql, [headers['request-id']]);
      return rows.length > 0;
    });
    expect(rows).toHaveLength(1);
    return rows[0]!;
  };

  const secretsOf = async (credentialId: string): Promise<string[]> => {
    const sql = 'select credential_id as id from access.credentials where key_id = $1';
    return (await app.database.query<{ id: string }>(sql, [credentialId])).map(({ id }) => id);
  };

  it('has what was called and what became of it, and no value of the query', async () => {
    const { merchant } = app;
    const { apiKey } = merchant.credentials;
    const { headers } = await merchant.get('/merchants/v1/payouts?status=pending&page_size=5');
    const row = await logged(headers);
    expect(row).toMatchObject({
      merchant_id: apiKey,
      method: 'GET',
      path: '/merchants/v1/payouts',
      query_names: ['status', 'page_size'],
      status: 200,
      refusal: null,
      string_to_sign: null,
    });
    expect([row.credential_id]).toEqual(await secretsOf(apiKey));
    expect(JSON.stringify(row)).not.toContain('pending');
  });

  it.each([
    ['%00=1', '?', '? is not a parameter'],
    ['hunter2', '?', '? is not a parameter'],
    ['colour=1', 'colour', 'colour is not a parameter'],
  ])('of the query %s has %s and the refusal "%s"', async (query, name, refusal) => {
    const response = await app.merchant.get(`/merchants/v1/payouts?${query}`);
    expect(response.status).toBe(400);
    const row = await logged(response.headers);
    expect(row).toMatchObject({ query_names: [name], refusal: expect.stringContaining(refusal) });
    expect(JSON.stringify(row)).not.toContain('hunter2');
  });

  it('has why a request was refused', async () => {
    const invalid = await app.merchant.post('/merchants/v1/users', { phone_number: 'none' });
    expect(await logged(invalid.headers)).toMatchObject({
      status: 422,
      refusal: invalid.json().detail,
    });
    const late = await app.merchant.call({ path: '/merchants/v1/payouts', timeShift: -900 });
    expect(await logged(late.headers)).toMatchObject({
      status: 401,
      credential_id: null,
      refusal: late.json().detail,
    });
  });

  it('has what a signature that did not match should have signed, and of the body its digest', async () => {
    const body = JSON.stringify({ phone_number: '+15550009999' });
    const timestamp = String(Math.floor(Date.now() / 1000));
    const response = await app.merchant.call({
      method: 'POST',
      path: '/merchants/v1/users',
      body,
      headers: { 'svc-signature': '0'.repeat(64), 'svc-timestamp': timestamp },
    });
    expect(response.status).toBe(401);
    const digest = createHash('sha256').update(body).digest('hex');
    expect(await logged(response.headers)).toMatchObject({
      credential_id: null,
      string_to_sign: `${timestamp}\nPOST\n/merchants/v1/users\nsha256:${digest} (${body.length} bytes)`,
    });
  });

  it('has the secret that signed a request to the exchange, and of a wrong signature the digest of the address', async () => {
    const { signing, open } = app.exchange;
    const address = '7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV';
    const wrong = await signing.call({
      method: 'POST',
      path: '/v1/orders',
      query: { pair_id: 'none', withdraw_address: address },
      signs: 'another address',
    });
    expect(wrong.status).toBe(401);
    const digest = createHash('sha256').update(address).digest('hex');
    const row = await logged(wrong.headers);
    expect(row).toMatchObject({
      merchant_id: app.merchant.credentials.apiKey,
      path: '/v1/orders',
      credential_id: null,
      string_to_sign: `withdraw_address=sha256:${digest} (${address.length} bytes)`,
    });
    expect(JSON.stringify(row)).not.toContain(address);
    const secrets = await secretsOf(signing.credentials.apiKey);
    const listed = await signing.get('/v1/merchant/orders');
    expect([(await logged(listed.headers)).credential_id]).toEqual(secrets);
    const tokens = await open.call({ path: '/v1/tokens' });
    expect(await logged(tokens.headers)).toMatchObject({ status: 422, credential_id: null });
  });

  it('counts the requests of a merchant and when its key was last used', async () => {
    const merchant = await app.newMerchant();
    const { apiKey } = merchant.credentials;
    await merchant.get('/merchants/v1/payouts');
    await merchant.get(`/merchants/v1/users/${randomUUID()}`);
    await eventually(async () => {
      const [row] = await app.database.query(
        `select requests::int, refused::int, last_used_at > now() - interval '1 minute' as used
         from access.daily_requests d join access.credentials c using (merchant_id)
         join access.credential_uses u using (credential_id) where merchant_id = $1 and c.kind = 'payouts'`,
        [apiKey],
      );
      return row?.['requests'] === 2 && row['refused'] === 1 && row['used'] === true;
    });
  });

  it('has nothing of a stranger who knows no api key', async () => {
    const { headers } = await app.merchant.get('/merchants/v1/payouts', { 'svc-api-key': randomUUID() });
    const last = await app.merchant.get('/merchants/v1/payouts');
    await logged(last.headers);
    const sql = 'select 1 from access.requests where request_id = $1';
    expect(await app.database.query(sql, [headers['request-id']])).toEqual([]);
  });
});
