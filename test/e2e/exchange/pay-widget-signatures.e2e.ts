import { beforeAll, describe, expect, it } from '@jest/globals';
import { CommandBus } from '@nestjs/cqrs';
import { IssueSecret, RevokeSecret } from '../../../src/contexts/access/application/credentials.js';
import { DirectoryView } from '../../../src/contexts/access/views/directory.js';
import { FRESH_MS } from '../../../src/platform/http/merchant-directory.js';
import { onTestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { ExchangeClient, querySignature } from '../../support/exchange/exchange-client.js';
import {
  ADDRESS,
  factsIn,
  navigate,
  signedBy,
  signedUrl,
  Visitor,
  widgetUrl,
} from '../../support/exchange/pay-page.js';

const app = onTestApp({ EXCHANGE_CHECK_INTERVAL_MS: '100', EXCHANGE_SCAN_INTERVAL_MS: '50' });
let signing: ExchangeClient;
let open: ExchangeClient;
beforeAll(() => {
  ({ signing, open } = app.exchange);
});

const statusOf = async (query: Record<string, string>) => (await navigate(widgetUrl(app, query))).status;

describe('a signature of the whole query (contract.md 26.1)', () => {
  const signedQuery = (
    key: ExchangeClient,
    more: Record<string, string>,
    path = '/widget',
  ): Record<string, string> => {
    const { apiKey, secret } = key.credentials;
    const query = { api_key: apiKey, withdraw_address: ADDRESS, ...more };
    return { ...query, signature_v2: querySignature(secret, path, query) };
  };
  const MORE = { withdraw_address_memo: '7', return_url: 'https://shop.example/done?order=7' };

  it('opens the page with a memo and a return URL, for every key', async () => {
    const full = await app.newExchangeKey(true, undefined, 'full');
    for (const key of [signing, open, full]) {
      const response = await navigate(widgetUrl(app, signedQuery(key, MORE)));
      const facts = await factsIn(response);
      expect([response.status, facts.to.memo, facts.return_url]).toEqual([200, '7', MORE.return_url]);
      const again = await factsIn(await navigate(signedUrl(app, key, MORE)));
      expect([again.to.memo, again.return_url]).toEqual(['7', MORE.return_url]);
    }
    expect((await factsIn(await navigate(widgetUrl(app, signedBy(full))))).return_url).toBeNull();
  });

  it('401: with anything in it changed, and for a way back under another signature', async () => {
    const { return_url } = MORE;
    for (const key of [signing, open]) {
      const right = signedQuery(key, MORE);
      for (const query of [
        { ...right, return_url: 'https://evil.example/' },
        { ...right, withdraw_address_memo: '8' },
        { ...right, user_id: 'u' },
        // Of a call.
        signedQuery(key, MORE, '/v1/orders'),
        { ...signedQuery(key, {}), return_url },
        { ...signedBy(key), return_url },
        { ...signedBy(key), return_url, signature_v2: signedBy(key)['signature']! },
      ])
        expect([query, await statusOf(query)]).toEqual([query, 401]);
    }
    expect(await statusOf({ api_key: open.credentials.apiKey, withdraw_address: ADDRESS, return_url })).toBe(
      401,
    );
  });

  it('422: a way back that is no address of the web', async () => {
    for (const return_url of ['javascript:alert(1)', '/done', 'http://shop.example/'])
      expect(await statusOf(signedQuery(signing, { return_url }))).toBe(422);
    expect(await statusOf(signedQuery(signing, { return_url: 'http://localhost:8080/done' }))).toBe(200);
  });
});

describe('a session (contract.md 26.3)', () => {
  it('ends within two seconds once the secret that opened it is revoked; that of the other secret does not', async () => {
    const key = await app.newExchangeKey(true);
    const bus = app.app.get(CommandBus);
    const { apiKey } = key.credentials;
    const { secrets } = (await app.app.get(DirectoryView).exchangeKey(apiKey))!;
    const { secret } = await bus.execute(new IssueSecret('exchange_key', apiKey));
    const other = new ExchangeClient(app.url, { apiKey, secret });
    await eventually(async () => (await statusOf(signedBy(other))) === 200);
    const opened = [widgetUrl(app, signedBy(key)), signedUrl(app, key)];
    const old = await Promise.all(opened.map((url) => Visitor.at(app, url)));
    const fresh = await Promise.all(
      [widgetUrl(app, signedBy(other)), signedUrl(app, other)].map((url) => Visitor.at(app, url)),
    );
    const orders = await Promise.all(old.map(async (each) => (await each.order()).order.id));
    const stream = await old[0]!.call(`orders/${orders[0]}/events`);
    const statuses = (visitors: readonly Visitor[]) =>
      Promise.all(visitors.map(async (each, n) => (await each.call(`orders/${orders[n]}`)).status));
    expect(await statuses(old)).toEqual([200, 200]);

    await bus.execute(new RevokeSecret('exchange_key', apiKey, secrets[0]!.secretId));
    const revokedAt = performance.now();
    await eventually(async () => (await statuses(old)).every((status) => status === 401));
    expect(performance.now() - revokedAt).toBeLessThan(FRESH_MS + 2000);
    // It ends: this would wait for ever otherwise.
    expect(await stream.text()).toContain(orders[0]!);
    expect(await statuses(fresh)).toEqual([200, 200]);
  });
});
