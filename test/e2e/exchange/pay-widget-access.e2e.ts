import { describe, expect, it } from '@jest/globals';
import { CommandBus } from '@nestjs/cqrs';
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { RevokeCredential } from '../../../src/contexts/access/credentials/credentials.commands.js';
import {
  ReinstateMerchant,
  SuspendMerchant,
} from '../../../src/contexts/access/merchants/merchants.commands.js';
import type { PayFacts } from '../../../src/contexts/exchange/pay/pay.dto.js';
import { sharedApp, onTestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { type ExchangeClient, querySignature } from '../../support/exchange/exchange-client.js';
import { orderIn } from '../../support/exchange/exchange-orders.js';
import {
  ADDRESS,
  navigate,
  OTHER_ADDRESS,
  payUrl,
  signedBy,
  signedUrl,
  Visitor,
  widgetUrl,
} from '../../support/exchange/pay-page.js';
import { factsIn } from '../../support/onboarding/people.js';

const ONE_KIB = 1024;

const app = await sharedApp();
const { signing, open } = app.exchange;

const payFactsIn = (response: Response) => factsIn<PayFacts>(response);
const statusOf = async (query: Record<string, string>, headers: Record<string, string> = {}) =>
  (await navigate(widgetUrl(app, query), headers)).status;
const unsigned = (address = ADDRESS): Record<string, string> => ({
  api_key: open.credentials.apiKey,
  withdraw_address: address,
});

describe('the pay page (contract.md 26.1)', () => {
  it('opens with a signature in headers or query, with a signed_url, or for a key that needs no signature', async () => {
    const { api_key, withdraw_address = '', signature = '' } = signedBy(signing);
    const headers = { 'x-api-key': api_key ?? '', 'x-signature': signature };
    expect(await statusOf({ withdraw_address }, headers)).toBe(200);
    expect(await statusOf(signedBy(signing))).toBe(200);
    expect(await statusOf(signedBy(open))).toBe(200);
    expect(await statusOf(unsigned())).toBe(200);
    const url = signedUrl(app, signing, { user_id: 'u 1&x=ü', withdraw_address_memo: "m'1" });
    for (let times = 0; times < 2; times += 1) expect((await navigate(url)).status).toBe(200);
    const facts = await payFactsIn(await navigate(url));
    expect(facts.to).toMatchObject({ address: ADDRESS, memo: "m'1", tag: null });
    expect(facts.offers.filter(({ is_open }) => is_open).map(({ pair_id }) => pair_id)).toEqual(['USDCSOL']);
  });

  it('401: does not open with any other credentials, and the page gives no reason', async () => {
    const { api_key, signature = '' } = signedBy(signing);
    const refused: [Record<string, string>, Record<string, string>?][] = [
      [{}],
      [{ withdraw_address: ADDRESS }],
      [{ ...unsigned(), api_key: randomUUID() }],
      [{ ...signedBy(signing), signature: '' }],
      [{ api_key: api_key!, withdraw_address: ADDRESS }],
      [signedBy(signing, ADDRESS, OTHER_ADDRESS)],
      [{ ...signedBy(signing), signature: signature.toUpperCase() }],
      [{ ...signedBy(signing), api_key: open.credentials.apiKey }],
      [{ ...signedBy(open), signature: '0'.repeat(64) }],
      [{ withdraw_address: ADDRESS }, { 'x-api-key': api_key! }],
      [signedBy(signing), { 'x-signature': '0'.repeat(64) }],
      // The signature covers neither parameter.
      [{ ...signedBy(signing), withdraw_address_memo: '7' }],
      [{ ...signedBy(signing), url_signature: signature }],
    ];
    const pages = await Promise.all(
      refused.map(async ([query, headers]) => {
        const response = await navigate(widgetUrl(app, query), headers);
        const html = (await response.text()).replaceAll(/nonce="[^"]*"/g, '');
        return { query, headers, status: response.status, html };
      }),
    );
    for (const { query, headers, status } of pages)
      expect([query, headers, status]).toEqual([query, headers, 401]);
    expect(new Set(pages.map(({ html }) => html)).size).toBe(1);
    expect(pages[0]!.html).toContain('This link does not work');
    expect(pages[0]!.html).not.toContain('<script');
    const response = await fetch(widgetUrl(app, { withdraw_address: ADDRESS }));
    expect(response.headers.get('content-type')).toContain('application/problem+json');
    expect(await response.json()).toMatchObject({ status: 401, title: 'Invalid link' });
  });

  it('400: refuses a repeated parameter; 422: refuses an invalid address', async () => {
    for (const query of [signedBy(signing), unsigned()]) {
      const url = `${widgetUrl(app, query)}&withdraw_address=${OTHER_ADDRESS}`;
      expect((await navigate(url)).status).toBe(400);
    }
    expect((await navigate(`${widgetUrl(app, unsigned())}&user_id=caf%e9`)).status).toBe(400);
    for (const address of ['', 'nonsense']) expect(await statusOf(unsigned(address))).toBe(422);
    expect(await statusOf({ ...unsigned(), user_id: 'a\u0000' })).toBe(422);
  });

  it('401: refuses a changed or expired signed_url; an expired session still reads its orders', async () => {
    const url = signedUrl(app, signing, { user_id: 'u' });
    const ofOpenKey = signedUrl(app, open, { user_id: 'u' });
    expect((await navigate(url.replace(ADDRESS, OTHER_ADDRESS))).status).toBe(401);
    expect((await navigate(ofOpenKey.replace(/&url_signature=[0-9a-f]+/, ''))).status).toBe(401);

    const late = await navigate(signedUrl(app, signing, {}, -1000));
    expect(late.status).toBe(401);
    expect(await late.clone().text()).toContain('This link has expired');
    // An expired session reads orders of the link and creates none.
    const [former, expired] = [
      await Visitor.at(app, signedUrl(app, signing)),
      new Visitor(app, (await payFactsIn(late)).session),
    ];
    const { order } = await former.order();
    expect((await expired.call(`orders/${order.id}`)).status).toBe(200);
    expect((await expired.call(`orders/${randomUUID()}`)).status).toBe(404);
    expect((await expired.create()).status).toBe(401);
    expect((await expired.call('quote?pair_id=USDCSOL')).status).toBe(401);
  });
});

describe('the document of the pay page', () => {
  it('loads only its own files, is never framed and is not cached', async () => {
    const response = await navigate(widgetUrl(app, unsigned()));
    expect(response.headers.get('content-security-policy')).toBe(
      "default-src 'none'; connect-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
    const html = await response.text();
    expect(html).not.toMatch(/<script>|<style|style="|\son\w+=/);
    const [icon, ...files] = [...html.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path!);
    expect((await fetch(`${payUrl(app)}${icon}`)).headers.get('content-type')).toBe('image/svg+xml');
    expect(files).toHaveLength(2);
    for (const path of files) {
      const file = await fetch(`${payUrl(app)}${path}`);
      const text = await file.text();
      expect(gzipSync(text).length).toBeLessThan((path.endsWith('.js') ? 60 : 10) * ONE_KIB);
      expect(text).not.toMatch(/https?:\/\/(?!www\.w3\.org)/);
    }
    expect((await fetch(`${payUrl(app)}/widget/assets/licenses.txt`)).status).toBe(200);
  });

  it('displays the parameters of the link as text, even if they are markup', async () => {
    const memo = '"></main><script>alert(1)</script>';
    const displayed = await navigate(widgetUrl(app, { ...unsigned(), withdraw_address_memo: memo }));
    expect(await displayed.clone().text()).not.toContain('<script>');
    expect((await payFactsIn(displayed)).to.memo).toBe(memo);
  });

  it('displays the on-ramps that the link selects', async () => {
    const { onramps } = await payFactsIn(await navigate(widgetUrl(app, unsigned())));
    expect(onramps.map(({ name }) => name)).toEqual(['Example Card', 'Example Bank']);
    const only = { onramp_only_onramps: 'example-card,nobody', onramp_fiat: 'eur', onramp_amount: '50.25' };
    const narrowed = await payFactsIn(await navigate(signedUrl(app, signing, only)));
    expect(narrowed.onramps).toEqual([
      {
        name: 'Example Card',
        url: `https://card.onramp.example/buy?token=sol&network=solana&address=${ADDRESS}&fiat=EUR&amount=50.25`,
      },
    ]);
  });
});

describe('the pay page without access', () => {
  it('is 403 while the merchant is suspended and 401 once the key is revoked', async () => {
    const { apiKey } = (await app.newMerchant()).credentials;
    const key = await app.newExchangeKey(false, apiKey);
    const url = widgetUrl(app, { api_key: key.credentials.apiKey, withdraw_address: ADDRESS });
    const visitor = await Visitor.at(app, url);
    const bus = app.app.get(CommandBus);
    await bus.execute(new SuspendMerchant(apiKey));
    await eventually(async () => (await navigate(url)).status === 403);
    expect((await visitor.create()).status).toBe(403);
    await bus.execute(new ReinstateMerchant(apiKey));
    await eventually(async () => (await navigate(url)).status === 200);
    const sql = 'select credential_id as id from access.credentials where key_id = $1';
    const [secret] = await app.database.query<{ id: string }>(sql, [key.credentials.apiKey]);
    const owner = { merchant_id: apiKey, operator_id: null };
    await bus.execute(new RevokeCredential(secret!.id, owner));
    await eventually(async () => (await navigate(url)).status === 401);
    expect((await visitor.create()).status).toBe(401);
  });
});

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

  it('opens the pay page with a memo and a return URL, for every key', async () => {
    const full = await app.newExchangeKey(true, undefined, 'full');
    for (const key of [signing, open, full]) {
      const response = await navigate(widgetUrl(app, signedQuery(key, MORE)));
      const facts = await payFactsIn(response);
      expect([response.status, facts.to.memo, facts.return_url]).toEqual([200, '7', MORE.return_url]);
      const again = await payFactsIn(await navigate(signedUrl(app, key, MORE)));
      expect([again.to.memo, again.return_url]).toEqual(['7', MORE.return_url]);
    }
    expect((await payFactsIn(await navigate(widgetUrl(app, signedBy(full))))).return_url).toBeNull();
  });

  it('gets 401 if a parameter was changed, and is required for a return URL', async () => {
    const { return_url } = MORE;
    for (const key of [signing, open]) {
      const right = signedQuery(key, MORE);
      for (const query of [
        { ...right, return_url: 'https://evil.example/' },
        { ...right, withdraw_address_memo: '8' },
        { ...right, user_id: 'u' },
        // A signature of a call.
        signedQuery(key, MORE, '/v1/orders'),
        { ...signedQuery(key, {}), return_url },
        { ...signedBy(key), return_url },
        { ...signedBy(key), return_url, signature_v2: signedBy(key)['signature']! },
      ])
        expect([query, await statusOf(query)]).toEqual([query, 401]);
    }
    expect(await statusOf({ ...unsigned(), return_url })).toBe(401);
  });
});

describe('the pay page behind a proxy', () => {
  /** A separate service, because of its limits and its allowed embedders. */
  const crowded = onTestApp({
    TRUST_PROXY: '127.0.0.1',
    PAY_FRAMED_BY: 'https://shop.example',
    RATE_LIMIT_PER_MINUTE: '10',
    RATE_LIMIT_PER_IP_PER_MINUTE: '1000',
  });

  it('responds with 429 to an address with too many requests, and only origins of the operator may frame it', async () => {
    const { apiKey } = crowded.exchange.open.credentials;
    const url = widgetUrl(crowded, { api_key: apiKey, withdraw_address: ADDRESS });
    const from = (last: number) => ({ 'x-forwarded-for': `198.51.100.${last}` });
    const pages = [];
    for (let times = 0; times < 10; times += 1) pages.push(await navigate(url, from(1)));
    expect(pages.map(({ status }) => status)).toEqual(Array(10).fill(200));
    const refused = await navigate(url, from(1));
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
    const framed = (response: Response) =>
      /frame-ancestors (.*)$/.exec(response.headers.get('content-security-policy') ?? '')?.[1];
    expect([framed(pages[0]!), framed(refused)]).toEqual(['https://shop.example', "'none'"]);
    expect((await navigate(url, from(2))).status).toBe(200);
    const { session } = await payFactsIn(pages[0]!);
    const quote = `${payUrl(crowded)}/widget/api/quote?pair_id=USDCSOL`;
    const headers = { ...from(1), authorization: `Bearer ${session}` };
    expect((await fetch(quote, { headers })).status).toBe(429);
    expect((await fetch(quote, { headers: { ...headers, ...from(3) } })).status).toBe(200);
    // Reads of an order have a separate limit of five times as many.
    const order = `${payUrl(crowded)}/widget/api/orders/${randomUUID()}`;
    const reads: number[] = [];
    for (let times = 0; times <= 50; times += 1) reads.push((await fetch(order, { headers })).status);
    expect(reads).toEqual([...Array<number>(50).fill(404), 429]);
  });

  it('binds an order to the address that the proxy names, or to the network of an IPv6 subscriber', async () => {
    const { open: key } = crowded.exchange;
    const callerOf = async (address: string): Promise<string | null> => {
      const headers = { 'x-forwarded-for': address };
      const query = { pair_id: 'USDCSOL', withdraw_address: ADDRESS };
      const order = orderIn(await key.call({ method: 'POST', path: '/v1/orders', query, headers }), 201);
      const [event] = await crowded.database.query<{ caller: string | null }>(
        `select data::json->>'caller' as caller from event_store.events where stream = $1`,
        [`order-${order.id}`],
      );
      return event!.caller;
    };
    const one = await callerOf('203.0.113.7');
    expect(one).toMatch(/^[0-9a-f]{64}$/);
    for (const same of ['198.51.100.9, 203.0.113.7', '::ffff:203.0.113.7'])
      expect(await callerOf(same)).toBe(one);
    const home = await callerOf('2001:db8:1:2::1');
    expect(await callerOf('2001:db8:1:2:ffff::9')).toBe(home);
    for (const other of ['203.0.113.8', '2001:db8:1:3::1'])
      expect([one, home]).not.toContain(await callerOf(other));
  });
});
