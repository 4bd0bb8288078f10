import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { onSharedApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { SignedClient } from '../../support/http/signed-client.js';
import { invoke } from '../../support/programs/cli.js';
import { specFolder } from '../../support/run-folder.js';

/** A signed call that finds nothing: 404 says that the merchant was let in. */
const PATH = `/merchants/v1/users/${randomUUID()}`;

describe('the operator programs', () => {
  const app = onSharedApp();

  const run = async (program: string, ...args: string[]): Promise<string> => {
    const env = { DATABASE_URL: app.config.databaseUrl!, MASTER_KEY: app.config.masterKey! };
    return (await invoke(program, env, ...args)).printed;
  };
  const merchant = (...args: string[]): Promise<string> => run('merchant', ...args);
  const json = async (...args: string[]): Promise<Record<string, string>> =>
    JSON.parse(await merchant('--json', ...args)) as Record<string, string>;
  const statusFor = async (apiKey: string, privateKey: string): Promise<number> =>
    (await new SignedClient(app.url, { apiKey, privateKey }).get(PATH)).status;
  const becomes = (apiKey: string, privateKey: string, status: number): Promise<true> =>
    eventually(async () => (await statusFor(apiKey, privateKey)) === status);

  it('register a merchant whose key works at once, and rotate it', async () => {
    const created = await json('create', '--name', 'Acme Inc.');
    expect(created).toMatchObject({ visible: true });
    const [id, first] = [created['merchant_id']!, created['private_key']!];
    expect(await statusFor(id, first)).toBe(404);
    expect(await merchant('list')).toContain(`${id}  active     Acme Inc.`);
    const issued = await json('issue-key', id);
    await becomes(id, issued['private_key']!, 404);
    expect(await statusFor(id, first)).toBe(404);
    await merchant('revoke-key', id, created['key_id']!);
    await becomes(id, first, 401);
    expect(await statusFor(id, issued['private_key']!)).toBe(404);
    const text = await merchant('show', id);
    expect(text).toMatch(/allowed IPs\s+anywhere/);
    expect(text).toContain('revoked');
    for (const secret of [first, issued['private_key']!]) expect(text).not.toContain(secret);
  });

  it('show the private key of a new merchant to people, and keep it out of the database', async () => {
    const printed = await merchant('create', '--name', 'Printed');
    const [, id, key] = /svc-api-key\s+(\S{36})\n\s+private key\s+dsk_([0-9a-f]{64})/.exec(printed)!;
    expect(await statusFor(app.merchant.credentials.apiKey, `dsk_${key}`)).toBe(401);
    const rows = await app.database.query<{ text: string }>(
      `select (select string_agg(k::text, ' ') from access.credentials k) ||
              (select string_agg(e::text, ' ') from event_store.events e) as text`,
    );
    expect(rows[0]!.text).toContain(id);
    expect(rows[0]!.text).not.toContain(key);
  });

  it('suspend, reinstate and restrict a merchant', async () => {
    const created = await json('create', '--name', 'Beta');
    const [id, key] = [created['merchant_id']!, created['private_key']!];
    await merchant('suspend', id);
    expect(await json('show', id)).toMatchObject({ status: 'suspended' });
    expect(await statusFor(id, key)).toBe(403);
    await merchant('reinstate', id);
    await becomes(id, key, 404);
    await merchant('allow-ips', id, '203.0.113.0/24', '198.51.100.7');
    expect(await json('show', id)).toMatchObject({
      status: 'active',
      ip_allow_list: ['198.51.100.7/32', '203.0.113.0/24'],
    });
    await becomes(id, key, 403);
    await merchant('allow-ips', id);
    expect(await json('show', id)).toMatchObject({ ip_allow_list: [] });
  });

  it('say who may embed the onboarding page, and where it leads back to', async () => {
    const id = (await json('create', '--name', 'Gamma'))['merchant_id']!;
    const show = async (): Promise<string> => merchant('show', id);
    expect(await show()).toMatch(
      /shown as\s+Gamma\n\s+framed by\s+no origin listed.*\n\s+leads to\s+any https/,
    );
    await merchant('embedding', id, '--origin', 'https://B.example', '--origin', 'https://a.example:443/');
    await merchant('embedding', id, '--callback', 'gamma:', '--shown-as', 'Gamma & Co');
    expect(await json('show', id)).toMatchObject({
      name: 'Gamma',
      shown_as: 'Gamma & Co',
      origins: ['https://a.example', 'https://b.example'],
      callbacks: ['gamma:'],
    });
    expect(await show()).toMatch(
      /framed by\s+https:\/\/a\.example, https:\/\/b\.example\n\s+leads to\s+gamma:/,
    );
    await merchant('embedding', id, '--clear', '--origin', 'http://localhost:3000');
    expect(await json('show', id)).toMatchObject({ shown_as: 'Gamma', callbacks: [] });
    await expect(merchant('embedding', id)).rejects.toThrow('Give --origin');
    await expect(merchant('embedding', randomUUID(), '--clear')).rejects.toThrow('Merchant not found');
  });

  it('refuse what cannot be done, with a sentence', async () => {
    await expect(merchant('show', 'x')).rejects.toThrow('Merchant not found');
    await expect(merchant('suspend', randomUUID())).rejects.toThrow('Merchant not found');
    await expect(merchant('create', '--name', ' ')).rejects.toThrow('name must not be blank');
    await expect(run('user', 'deactivate', randomUUID(), '--reason', 'gone')).rejects.toThrow(
      'User not found',
    );
    const dataDir = specFolder('no-sandbox');
    await expect(invoke('merchant', { DATA_DIR: dataDir }, 'list')).rejects.toThrow(
      `No sandbox is running in ${dataDir}`,
    );
  });

  it('show and find a user; personal data only with --personal', async () => {
    const [phone, email, externalId] = ['+15550002222', 'ada@example.com', `crm-${randomUUID()}`];
    const { merchant: client } = app;
    const merchantId = client.credentials.apiKey;
    const body = { phone_number: phone, email, external_id: externalId };
    const { id } = (await client.post('/merchants/v1/users', body)).json<{ user: { id: string } }>().user;
    const done = await client.post(`/merchants/v1/sandbox/users/${id}/complete_onboarding`);
    const { issuer_wallet_address: wallet } = done.json<{ user: { issuer_wallet_address: string } }>().user;
    const displayed = {
      merchant_id: merchantId,
      id,
      external_id: externalId,
      created_at: expect.any(String),
      account_state: 'active',
      issuer_wallet_address: wallet,
    };
    const user = async (...args: string[]): Promise<unknown> =>
      JSON.parse(await run('user', '--json', ...args));
    const find = (...by: string[]): Promise<unknown> => user('find', '--merchant', merchantId, ...by);
    expect(await user('show', id.toUpperCase())).toEqual(displayed);
    expect(await user('show', id, '--personal')).toEqual({ ...displayed, phone_number: phone, email });
    expect(await find('--phone', '+1 (555) 000-2222')).toEqual(displayed);
    expect(await find('--external-id', externalId, '--personal')).toEqual({
      ...displayed,
      phone_number: phone,
      email,
    });
    expect(await find('--wallet', wallet.toLowerCase())).toEqual(displayed);
    const text = await run('user', 'show', id);
    expect(text).toMatch(/account_state\s+active/);
    for (const hidden of [phone, email]) expect(text).not.toContain(hidden);

    const other = app.secondMerchant.credentials.apiKey;
    for (const refused of [
      ['show', randomUUID()],
      ['find', '--merchant', other, '--phone', phone],
      ['find', '--merchant', other, '--wallet', wallet],
      ['find', '--merchant', merchantId, '--external-id', 'unknown'],
    ]) {
      await expect(run('user', ...refused)).rejects.toThrow('User not found');
    }
    await expect(find('--phone', phone, '--wallet', wallet)).rejects.toThrow('Give exactly one of');
    await expect(find('--phone', '555')).rejects.toThrow('phone_number must be in E.164 form');
  });

  it('deactivate a user', async () => {
    const response = await app.merchant.post('/merchants/v1/users', { phone_number: '+15550001111' });
    const { id } = response.json<{ user: { id: string } }>().user;
    await expect(run('user', 'deactivate', id, '--reason', 'x'.repeat(501))).rejects.toThrow('3 to 500');
    const act = ['--reason', 'ticket 7'];
    expect(await run('user', 'deactivate', id, ...act)).toMatch(/^The user is deactivat(ing|ed)/);
    const done = async (): Promise<string> => run('user', '--json', 'complete-deactivation', id);
    expect(JSON.parse(await done())).toMatchObject({ user_id: id, account_state: 'deactivated' });
    expect(JSON.parse(await run('user', '--json', 'show', id))).toMatchObject({
      account_state: 'deactivated',
      deactivation_reason: 'ticket 7',
      deactivation_actor: 'shell',
      deactivation_at: expect.any(String),
    });
    const got = await app.merchant.get(`/merchants/v1/users/${id}`);
    expect(got.json<{ user: object }>().user).toMatchObject({ account_state: 'deactivated' });
  });
});
