import { afterAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startService } from '../../../sandbox/service.js';
import { ExchangeKeyDirectory } from '../../../src/contexts/access/access.contract.js';
import { isDeepStrictEqual } from 'node:util';
import { sharedApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { ExchangeClient } from '../../support/exchange/exchange-client.js';
import { programsFor } from '../../support/programs/cli.js';
import { specFolder } from '../../support/run-folder.js';

const NOWHERE = '/v1/nothing';
const LIST = '/v1/merchant/orders';
const DATES = { start_date: '2026-01-01', end_date: '2026-01-02' };

const reason = 'requested by a suite';

interface Issued {
  readonly id: string;
  readonly api_key: string;
  readonly secret: string;
}

const app = await sharedApp();
const second = await startService({ ...app.config, roles: ['api'] });
const admin = await app.newAdmin();

describe('an exchange key', () => {
  afterAll(() => second?.close());

  const run = async (program: string, ...args: string[]): Promise<string> =>
    (await programsFor(app)(program, ...args)).printed;
  const exchange = (...args: string[]): Promise<string> => run('exchange', ...args);
  const issue = async (members: object = {}): Promise<Issued> => {
    const { apiKey: merchant_id } = app.merchant.credentials;
    const body = { kind: 'exchange', name: 'Shop', merchant_id, demands_signing: false, reason, ...members };
    return (await admin.post('/credentials', body)).json().credential;
  };
  const change = (id: string, action: string) => admin.change(`/credentials/${id}`, action, { reason });
  const clients = (apiKey: string, secret: string): ExchangeClient[] =>
    [app.url, second.address!].map((url) => new ExchangeClient(url, { apiKey, secret }));
  const statuses = (callers: readonly ExchangeClient[], path = NOWHERE): Promise<number[]> =>
    Promise.all(
      callers.map(async (each) => (path === LIST ? await each.list(DATES) : await each.get(path)).status),
    );
  const become = (status: number, callers: readonly ExchangeClient[], path?: string): Promise<true> =>
    eventually(async () => (await statuses(callers, path)).every((each) => each === status));

  it('works in every process as soon as it is issued', async () => {
    const created = await issue({ demands_signing: true, memo_signing: 'full' });
    expect(created.secret).toMatch(/^dxs_[0-9a-f]{64}$/);
    expect(await statuses(clients(created.api_key, created.secret))).toEqual([404, 404]);
    const displayed = await admin.get(`/credentials/${created.id}`);
    const { id, api_key } = created;
    const credential = { id, api_key, demands_signing: true, memo_signing: 'full', status: 'active' };
    expect(displayed.json()).toMatchObject({ credential });
    expect(displayed.text).not.toContain('dxs_');
  });

  it('is refused if somebody changed its row to another merchant', async () => {
    const { api_key, secret } = await issue();
    const callers = clients(api_key, secret);
    const sql = 'update access.credentials set owner_id = $2 where key_id = $1';
    const give = (merchantId: string): Promise<unknown> => app.database.query(sql, [api_key, merchantId]);
    await give(app.secondMerchant.credentials.apiKey);
    expect(await statuses(callers)).toEqual([401, 401]);
    await give(app.merchant.credentials.apiKey);
    expect(await become(404, callers)).toBe(true);
  });

  it('obeys rolls with an overlap, revocations, allow-lists and suspensions in every process', async () => {
    const created = await issue();
    const rolled = (await change(created.id, '/roll')).json().credential;
    const [before, after] = [created, rolled].map(({ secret }) => clients(created.api_key, secret));
    for (const callers of [before!, after!]) expect(await statuses(callers, LIST)).toEqual([200, 200]);
    expect((await change(rolled.id, '/roll')).text).toContain('2 secrets are valid');
    expect((await change(created.id, '/revoke')).status).toBe(200);

    const revoked = await issue();
    const gone = clients(revoked.api_key, revoked.secret);
    expect(await statuses(gone)).toEqual([404, 404]);
    expect((await change(revoked.id, '/revoke')).json()).toMatchObject({ credential: { status: 'revoked' } });
    expect((await change(revoked.id, '/roll')).status).toBe(409);

    const bound = await issue({ addresses: ['203.0.113.0/24', '198.51.100.7'] });
    expect(await statuses(clients(bound.api_key, bound.secret))).toEqual([403, 403]);

    const { merchant } = (await admin.post('/merchants', { name: 'Exchanger', reason })).json();
    const suspended = await issue({ merchant_id: merchant.id });
    const ofMerchant = clients(suspended.api_key, suspended.secret);
    await become(404, ofMerchant);
    await admin.change(`/merchants/${merchant.id}`, '/suspend', { reason });

    await Promise.all([become(401, before!, LIST), become(401, gone), become(403, ofMerchant)]);
    expect(await statuses(after!, LIST)).toEqual([200, 200]);
    const unknown = clients(randomUUID(), revoked.secret);
    for (const [place, caller] of gone.entries())
      expect((await caller.get(NOWHERE)).json()).toEqual((await unknown[place]!.get(NOWHERE)).json());
  });

  it('is refused once it has expired, even for requests that need no signature', async () => {
    const { id, api_key, secret } = await issue({ expires_at: new Date(Date.now() + 10_000).toISOString() });
    await become(401, clients(api_key, secret));
    const credential = { status: 'expired' };
    expect((await admin.get(`/credentials/${id}`)).json()).toMatchObject({ credential });
  });

  it('has settings of the pay page: an omitted value is cleared, and an invalid value changes nothing', async () => {
    const { id, api_key: key, secret } = await issue();
    const displayed = async (): Promise<unknown> => {
      const { logo, ...links } = (await app.app.get(ExchangeKeyDirectory).find(key))!.page;
      return { has_logo: logo !== null, ...links };
    };
    const file = (name: string, bytes: Buffer): string => {
      const path = join(specFolder('logos'), name);
      writeFileSync(path, bytes);
      return path;
    };
    const png = Buffer.from('89504e470d0a1a0a', 'hex');
    const logo = file('logo.png', png);
    const [help, terms] = ['https://shop.example/help', 'https://shop.example/terms'];
    const set = await exchange('key', 'page', key, '--logo', logo, '--help-url', help, '--terms-url', terms);
    expect(set).toMatch(/^Pay page set\n/);
    const page = { has_logo: true, help_url: help, terms_url: terms };
    await eventually(async () => isDeepStrictEqual(await displayed(), page));

    await exchange('key', 'page', key, '--help-url', help);
    const cleared = { has_logo: false, help_url: help, terms_url: null };
    await eventually(async () => isDeepStrictEqual(await displayed(), cleared));

    const jpeg = file('logo.jpg', Buffer.from('ffd8ffe0', 'hex'));
    await expect(exchange('key', 'page', key, '--logo', jpeg)).rejects.toThrow('PNG or WebP');
    const clear = ['--help-url', 'http://shop.example/help'];
    await expect(exchange('key', 'page', key, ...clear)).rejects.toThrow('https://');
    expect(await displayed()).toEqual(cleared);
    const allowed = await exchange('key', 'allow', key, '203.0.113.0/24');
    expect(allowed).toMatch(/^Allowed from 203\.0\.113\.0\/24\n/);
    await expect(exchange('key', 'allow', key, '10.0.0.0/33')).rejects.toThrow('is not an address');
    await become(403, clients(key, secret));
    await expect(exchange('key', 'page', randomUUID(), '--help-url', help)).rejects.toThrow('not found');
    await change(id, '/revoke');
    await expect(exchange('key', 'page', key, '--help-url', help)).rejects.toThrow('The key is revoked');
  });

  it('is sealed: no secret is stored in clear, and sealed secrets are counted', async () => {
    const count = async (): Promise<number> => {
      const { keys } = JSON.parse(await run('keys', '--json', 'status')) as {
        keys: { exchange_secrets: number; merchant_keys: number }[];
      };
      expect(keys.some(({ merchant_keys }) => merchant_keys > 0)).toBe(true);
      return keys.reduce((sum, { exchange_secrets }) => sum + exchange_secrets, 0);
    };
    const before = await count();
    const created = await issue();
    expect(await count()).toBe(before + 1);
    expect(await run('keys', 'status')).toMatch(
      /\d personal keys, .*\d+ exchange secrets, \d+ merchant keys/,
    );
    const [{ n: leaks }] = (await app.database.query<{ n: number }>(
      `select (select count(*) from event_store.events e where e::text like '%' || $1 || '%')::int +
              (select count(*) from access.credentials s where s::text like '%' || $1 || '%')::int as n`,
      [created.secret.slice(4)],
    )) as [{ n: number }];
    expect(leaks).toBe(0);
    await change(created.id, '/revoke');
    expect(await count()).toBe(before);
  });
});
