import { describe, expect, it } from '@jest/globals';
import { CommandBus } from '@nestjs/cqrs';
import { issueExchangeKey } from '../../../sandbox/issuing.js';
import { newId } from '../../../src/kernel/ids.js';
import { ConsoleSite } from '../../support/access/console-site.js';
import { AdminClient } from '../../support/admin/admin-client.js';
import { testApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { ExchangeClient } from '../../support/exchange/exchange-client.js';

const reason = 'one person alone';
const TWICE = 'older.event.v1';

/** Values that a writer without the master key forges in each column. */
const SESSION_COLUMNS = [
  ['session_id', 'gen_random_uuid()'],
  ['operator_id', '$2::uuid'],
  ['method', "'passkey'"],
  ['address', "'192.0.2.77'"],
  ['authenticated_at', "authenticated_at + interval '1 s'"],
  ['expires_at', "expires_at + interval '1 s'"],
  ['mac', 'null'],
  ['mac', "mac || 'x'"],
] as const;
const LINK_COLUMNS = [
  ['operator_id', '$2::uuid'],
  ['expires_at', "expires_at + interval '1 s'"],
  ['mac', 'null'],
] as const;

// A separate service, because its database is tampered with.
const site = new ConsoleSite(await testApp());
const [ada, bob] = [await site.app.newAdmin(), await site.app.newAdmin()];

describe('the service with forged rows in its database', () => {
  const sql = (text: string, values: readonly unknown[]): Promise<unknown> =>
    site.app.database.query(text, [...values]);
  /** Sets a column of the rows where `id` is this value. `$2` is the id of bob. */
  const forge = (
    table: string,
    [column, other]: readonly [string, string],
    id: string,
    where = 'operator_id',
  ) =>
    sql(
      `update access.${table} set ${column} = ${other} where ${where} = $1`,
      other.includes('$2') ? [id, bob.operatorId] : [id],
    );
  const request = async (): Promise<string> => {
    const path = `/system/event_types/${TWICE}/let_pass`;
    const { operation } = (await ada.post(path, { reason })).json();
    return `/operations/${operation.id}`;
  };
  const statusOf = async (path: string): Promise<string> => (await bob.get(path)).json().operation.status;

  it.each(SESSION_COLUMNS)('refuses a session whose column %s was set to %s', async (...forged) => {
    const { browser, id } = await site.signedIn('administrator');
    const path = await request();
    await forge('console_sessions', forged, id);
    expect((await browser.call('/session')).status).toBe(401);
    expect((await browser.post(`/admin/v1${path}/approve`, { reason })).status).toBe(401);
    expect(await statusOf(path)).toBe('pending_approval');
  });

  it('refuses a session with the values of another session, but accepts an earlier expiry', async () => {
    const { browser, id } = await site.signedIn('viewer');
    const other = await site.signedIn('administrator');
    const columns = 'session_id, operator_id, method, address, authenticated_at, expires_at, mac';
    await sql(
      `update access.console_sessions set expires_at = expires_at - interval '1 h' where operator_id = $1`,
      [id],
    );
    expect((await browser.call('/session')).status).toBe(200);
    await sql(
      `with gone as (delete from access.console_sessions where operator_id = $2 returning ${columns})
       update access.console_sessions s set operator_id = g.operator_id, method = g.method, mac = g.mac,
         authenticated_at = g.authenticated_at, expires_at = g.expires_at, address = g.address
       from gone g where s.operator_id = $1`,
      [id, other.id],
    );
    expect((await browser.call('/session')).status).toBe(401);
  });

  it.each(LINK_COLUMNS)('refuses a one-time link whose column %s was set to %s', async (...forged) => {
    const { id } = await site.operator();
    const token = await site.token(id);
    await forge('login_secrets', forged, id);
    const browser = site.browser();
    expect((await browser.post('/enrol/options', { token })).status).toBe(401);
    expect((await browser.post('/login/link', { token })).status).toBe(401);
  });

  it.each([
    ['operator_id', '$2::uuid'],
    ['scopes', `'{payouts:read}'`],
    ['merchants', `'{}'`],
    ['addresses', `'{192.0.2.0/24}'`],
    ['kind', `'exchange'`],
  ] as const)('reads the rights of an admin key from events despite a forged %s', async (...forged) => {
    const key = await site.app.newAdmin({ operatorId: ada.operatorId });
    await forge('credentials', forged, ada.operatorId);
    // The first read, so that no cache has it.
    const who = (await key.get('/whoami')).json();
    expect(who).toMatchObject({
      actor: { operator_id: ada.operatorId },
      role: 'administrator',
      merchants: null,
    });
    const path = await request();
    expect((await key.post(`${path}/approve`, { reason })).status).toBe(403);
    expect(await statusOf(path)).toBe('pending_approval');
  });

  it.each([
    ['is_pending', 'false'],
    ['owner_id', '$2::uuid'],
  ] as const)('refuses a pending key with a forged %s', async (...forged) => {
    const body = { kind: 'admin', name: 'next', reason };
    const { id, secret } = (await ada.post('/credentials', body)).json().credential;
    await forge('credentials', forged, id, 'credential_id');
    expect((await new AdminClient(ada.baseUrl, secret, ada.operatorId).get('/whoami')).status).toBe(401);
  });

  it.each([
    ['role', `'administrator'`],
    ['operator_id', 'gen_random_uuid()'],
    ['status', `'active'`],
  ])('reads the role and state of an operator from events despite a forged %s', async (column, other) => {
    const { browser, id } = await site.signedIn('viewer');
    const { key } = await site.app.newAdmin({ operatorId: id });
    await sql(`update access.operators set ${column} = ${other} where operator_id = $1`, [id]);
    expect((await browser.call('/admin/v1/whoami')).json()).toMatchObject({
      actor: { operator_id: id },
      role: 'viewer',
    });
    const response = await bob.call({ path: '/whoami', headers: { authorization: `Bearer ${key}` } });
    expect(response.json()).toMatchObject({ actor: { operator_id: id }, role: 'viewer' });
  });

  it('returns no secret to an operator whom a forged row names as the owner of a key', async () => {
    const victim = await site.app.newAdmin();
    const { credential_id: id } = (await victim.get('/whoami')).json().actor;
    const { browser, id: thief } = await site.signedIn('administrator');
    await sql('update access.credentials set operator_id = $2 where credential_id = $1', [id, thief]);
    const read = await browser.call(`/admin/v1/credentials/${id}`);
    const rolled = await browser.post(
      `/admin/v1/credentials/${id}/roll`,
      { reason },
      { 'if-match': read.headers['etag']! },
    );
    expect([rolled.status, rolled.text.includes('dsb_')]).toEqual([403, false]);
  });

  it('reads a merchant and its keys from events despite any forged rows', async () => {
    const merchant = await site.app.newMerchant();
    const { apiKey } = merchant.credentials;
    await sql(
      `update access.credentials set revoked_at = now(), sealed_secret = 'x', is_pending = true where owner_id = $1`,
      [apiKey],
    );
    await sql(
      `update access.merchants set status = 'suspended', ip_allow_list = '{192.0.2.0/24}' where merchant_id = $1`,
      [apiKey],
    );
    const call = async () => (await merchant.get(`/merchants/v1/users/${newId()}`)).status;
    expect(await call()).toBe(404);
    const { credentials } = (await ada.get(`/credentials?merchant_id=${apiKey}`)).json<{
      credentials: readonly { readonly id: string }[];
    }>();
    const leak = { token: merchant.credentials.privateKey, url: 'https://paste.example/1', reason };
    await sql('update access.credentials set revoked_at = null where owner_id = $1', [apiKey]);
    const revoked = await ada.post('/credentials/revoke_leaked', leak);
    expect(revoked.json()).toMatchObject({ credential_id: credentials[0]!.id });
    await sql('update access.credentials set revoked_at = null, is_pending = false where owner_id = $1', [
      apiKey,
    ]);
    await eventually(async () => (await call()) === 401);
  });

  it('accepts only the payout addresses in the events of an exchange key, despite a forged row', async () => {
    const [allowed, other] = [
      '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T',
      '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin',
    ];
    const { apiKey } = site.app.merchant.credentials;
    const issue = [site.app.app.get(CommandBus), apiKey, false] as const;
    const { keyId, secret } = await issueExchangeKey(...issue, { withdraw_addresses: [allowed] });
    await sql('update access.credentials set withdraw_addresses = $2 where key_id = $1', [keyId, [other]]);
    const client = new ExchangeClient(site.app.url, { apiKey: keyId, secret });
    const order = async (withdraw_address: string) =>
      (await client.order({ pair_id: 'USDCSOL', withdraw_address })).status;
    expect([await order(other), await order(allowed)]).toEqual([403, 201]);
  });
});
