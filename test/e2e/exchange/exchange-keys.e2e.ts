import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startService } from '../../../sandbox/service.js';
import type { Service } from '../../../src/service.js';
import { onSharedApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { ExchangeClient } from '../../support/exchange/exchange-client.js';
import { invoke } from '../../support/programs/cli.js';
import { specFolder } from '../../support/run-folder.js';

const NOWHERE = '/v1/nothing';
const LIST = '/v1/merchant/orders';
const DATES = { start_date: '2026-01-01', end_date: '2026-01-02' };

interface Issued {
  readonly api_key: string;
  readonly secret: string;
  readonly secret_id: string;
}

describe('the keys of the exchange', () => {
  const app = onSharedApp();
  let second: Service;

  beforeAll(async () => {
    second = await startService({ ...app.config, roles: ['api'] });
  });
  afterAll(() => second?.close());

  const run = async (program: string, ...args: string[]): Promise<string> => {
    const env = { DATABASE_URL: app.config.databaseUrl!, MASTER_KEY: app.config.masterKey! };
    return (await invoke(program, env, ...args)).printed;
  };
  const exchange = (...args: string[]): Promise<string> => run('exchange', ...args);
  const json = async <T>(...args: string[]): Promise<T> => JSON.parse(await exchange('--json', ...args)) as T;
  const issue = (...options: string[]): Promise<Issued> =>
    json('key', 'issue', '--merchant', app.merchant.credentials.apiKey, ...options);
  /** One client for each process. */
  const clients = (apiKey: string, secret: string): ExchangeClient[] =>
    [app.url, second.address!].map((url) => new ExchangeClient(url, { apiKey, secret }));
  const statuses = (callers: readonly ExchangeClient[], path = NOWHERE): Promise<number[]> =>
    Promise.all(
      callers.map(async (each) => (path === LIST ? await each.list(DATES) : await each.get(path)).status),
    );
  const become = (status: number, callers: readonly ExchangeClient[], path?: string): Promise<true> =>
    eventually(async () => (await statuses(callers, path)).every((each) => each === status));

  it('work as soon as they are displayed, in every process', async () => {
    const created = await issue('--demand-signature', '--memo-signing', 'full', '--label', 'Shop');
    expect(created).toMatchObject({ secret: expect.stringMatching(/^dxs_[0-9a-f]{64}$/), visible: true });
    expect(await statuses(clients(created.api_key, created.secret))).toEqual([404, 404]);
    const { keys } = await json<{ keys: { api_key: string }[] }>('key', 'list');
    const merchantId = app.merchant.credentials.apiKey;
    expect(keys.find(({ api_key }) => api_key === created.api_key)).toEqual({
      api_key: created.api_key,
      merchant_id: merchantId,
      label: 'Shop',
      demands_signature: true,
      memo_signing: 'full',
      allowed_addresses: [],
      pay_page: { has_logo: false, help_url: null, terms_url: null },
      issued_at: expect.any(String),
      revoked_at: null,
      secrets: [{ secret_id: created.secret_id, issued_at: expect.any(String), revoked_at: null }],
    });
    const text = await exchange('key', 'list', '--merchant', merchantId);
    expect(text).toContain(`${created.api_key}  Shop`);
    expect(text).not.toContain('dxs_');
    const displayed = await exchange('key', 'issue', '--merchant', merchantId);
    expect(displayed).toMatch(/demands no signatures\n\n {2}api_key\s+\S{36}\n {2}secret\s+dxs_[0-9a-f]{64}/);
    expect(await exchange('key', 'list', '--merchant', app.secondMerchant.credentials.apiKey)).toBe(
      'No keys\n',
    );
  });

  it('are refused where a writer of the database gave the row to another merchant', async () => {
    const { api_key, secret } = await issue();
    const callers = clients(api_key, secret);
    const give = (merchantId: string): Promise<unknown> =>
      app.database.query('update access.credentials set owner_id = $2 where key_id = $1', [
        api_key,
        merchantId,
      ]);
    await give(app.secondMerchant.credentials.apiKey);
    expect(await statuses(callers)).toEqual([401, 401]);
    await give(app.merchant.credentials.apiKey);
    expect(await become(404, callers)).toBe(true);
  });

  it('rotate with an overlap, and a revoked secret or key, allowed addresses and a suspension hold in every process', async () => {
    const created = await issue();
    const rotated = await json<Issued>('key', 'rotate', created.api_key);
    const [before, after] = [created, rotated].map(({ secret }) => clients(created.api_key, secret));
    for (const callers of [before!, after!]) expect(await statuses(callers, LIST)).toEqual([200, 200]);
    await expect(exchange('key', 'rotate', created.api_key)).rejects.toThrow('2 secrets are valid');
    await exchange('key', 'revoke-secret', created.api_key, created.secret_id);
    await expect(exchange('key', 'revoke-secret', created.api_key, rotated.secret_id)).rejects.toThrow(
      'It is the last secret',
    );

    const revoked = await issue();
    const gone = clients(revoked.api_key, revoked.secret);
    expect(await statuses(gone)).toEqual([404, 404]);
    await exchange('key', 'revoke', revoked.api_key.toUpperCase());
    expect(await exchange('key', 'list')).toMatch(
      new RegExp(`${revoked.api_key}\\n.*\\n  status       revoked`),
    );
    await expect(exchange('key', 'rotate', revoked.api_key)).rejects.toThrow('The key is revoked');

    const bound = await issue();
    const anywhere = clients(bound.api_key, bound.secret);
    await exchange('key', 'allow', bound.api_key, '203.0.113.0/24', '198.51.100.7');
    expect(await statuses(anywhere)).toEqual([403, 403]);
    expect(await exchange('key', 'list')).toContain('allowed IPs  198.51.100.7/32, 203.0.113.0/24');
    await exchange('key', 'allow', bound.api_key);

    const { merchant_id: merchant } = JSON.parse(
      await run('merchant', '--json', 'create', '--name', 'Exchanger'),
    ) as { merchant_id: string };
    const suspended = await json<Issued>('key', 'issue', '--merchant', merchant);
    const ofMerchant = clients(suspended.api_key, suspended.secret);
    expect(await statuses(ofMerchant)).toEqual([404, 404]);
    expect(await exchange('key', 'list', '--merchant', merchant)).toContain('allowed IPs  anywhere');
    await run('merchant', 'suspend', merchant);

    await Promise.all([
      become(401, before!, LIST),
      become(401, gone),
      become(404, anywhere),
      become(403, ofMerchant),
    ]);
    expect(await statuses(after!, LIST)).toEqual([200, 200]);
    const unknown = clients(randomUUID(), revoked.secret);
    for (const [place, caller] of gone.entries())
      expect((await caller.get(NOWHERE)).json()).toEqual((await unknown[place]!.get(NOWHERE)).json());
  });

  it('have a pay page with a logo, help and terms; what is left out is cleared, what is wrong changes nothing', async () => {
    const { api_key: key } = await issue();
    const displayed = async (): Promise<unknown> => {
      const { keys } = await json<{ keys: { api_key: string; pay_page: unknown }[] }>('key', 'list');
      return keys.find(({ api_key }) => api_key === key)?.pay_page;
    };
    const file = (name: string, bytes: Buffer): string => {
      const path = join(specFolder('logos'), name);
      writeFileSync(path, bytes);
      return path;
    };
    const png = Buffer.from('89504e470d0a1a0a', 'hex');
    const logo = file('logo.png', png);
    const [help, terms] = ['https://shop.example/help', 'https://shop.example/terms'];
    expect(
      await exchange('key', 'page', key, '--logo', logo, '--help-url', help, '--terms-url', terms),
    ).toMatch(/^Pay page set\n/);
    expect(await displayed()).toEqual({ has_logo: true, help_url: help, terms_url: terms });
    expect(await exchange('key', 'list')).toContain(`pay page     logo, help ${help}, terms ${terms}`);

    await exchange('key', 'page', key, '--help-url', help);
    const cleared = { has_logo: false, help_url: help, terms_url: null };
    expect(await displayed()).toEqual(cleared);

    const jpeg = file('logo.jpg', Buffer.from('ffd8ffe0', 'hex'));
    await expect(exchange('key', 'page', key, '--logo', jpeg)).rejects.toThrow('PNG or WebP');
    const clear = ['--help-url', 'http://shop.example/help'];
    await expect(exchange('key', 'page', key, ...clear)).rejects.toThrow('https://');
    expect(await displayed()).toEqual(cleared);
    await expect(exchange('key', 'page', randomUUID(), '--help-url', help)).rejects.toThrow('not found');
    await exchange('key', 'revoke', key);
    await expect(exchange('key', 'page', key, '--help-url', help)).rejects.toThrow('The key is revoked');
  });

  it('are sealed: nothing of their secrets is stored in clear, and what keeps them is counted', async () => {
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
    await exchange('key', 'revoke', created.api_key);
    expect(await count()).toBe(before);
  });

  it('are refused to be issued or changed, with a sentence', async () => {
    await expect(exchange('key', 'issue', '--merchant', randomUUID())).rejects.toThrow('Merchant not found');
    await expect(issue('--label', ' ')).rejects.toThrow('name must not be blank');
    await expect(exchange('key', 'list', '--merchant', 'nobody')).rejects.toThrow('Merchant not found');
    for (const [name, ...rest] of [['rotate'], ['revoke'], ['revoke-secret', randomUUID()], ['allow']])
      await expect(exchange('key', name!, randomUUID(), ...rest)).rejects.toThrow('Key not found');
    await expect(exchange('key', 'revoke', 'nobody')).rejects.toThrow('Key not found');
    const { api_key: key } = await issue();
    await expect(exchange('key', 'revoke-secret', key, randomUUID())).rejects.toThrow('Secret not found');
    await expect(exchange('key', 'allow', key, '10.0.0.0/33')).rejects.toThrow('is not an address');
  });
});
