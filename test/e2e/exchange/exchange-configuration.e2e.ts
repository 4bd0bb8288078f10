import { describe, expect, it } from '@jest/globals';
import { iconUrl } from '../../../src/contexts/exchange/tokens/tokens.controller.js';
import { openSignedQuery } from '../../../src/contexts/exchange/orders/order-signature.guard.js';
import { TOKENS as ALL_TOKENS } from '../../../src/contexts/exchange/tokens/catalog.js';
import { testApp } from '../../support/app.js';
import { exchangeSignature, querySignature } from '../../support/exchange/exchange-client.js';
import { ADDRESS, expectProblem } from '../../support/exchange/exchange-orders.js';
import { payUrl } from '../../support/exchange/pay-page.js';
import { httpConfig } from '../../../src/platform/config/config.js';

const CONFIGURATION = '/v1/merchants/configuration';
const TOKENS = '/v1/tokens';
const LEAST = { token: 'sol', withdraw_address: ADDRESS };
const FULL = {
  ...LEAST,
  chain: 'solana',
  withdraw_address_tag: 'Tag 1&2=3',
  withdraw_address_memo: 'mémo + more',
  onramp_amount: '150.50',
  onramp_fiat: 'EUR',
  onramp_only_onramps: 'example-bank,example-card',
  user_id: 'Zoë/日本?#',
};

interface Configuration {
  readonly signed_url: string;
  readonly expires_at: string;
  readonly onramps: readonly { readonly id: string; readonly url: string }[];
}

const LONG = 'a'.repeat(10_000);
const PUBLIC_URL = 'https://api.example/base/';
/** A separate service, because the URLs of its settings are in responses. */
const app = await testApp({ PAY_URL: 'https://pay.example/base/', PUBLIC_URL });

const { open, signing } = app.exchange;

const fault = (name: string): object => ({ [name]: [expect.any(String)] });

describe('GET /v1/merchants/configuration', () => {
  const configuration = async (query: Record<string, string>, by = signing): Promise<Configuration> => {
    const response = await by.get(CONFIGURATION, query);
    expect([response.status, response.text]).toEqual([200, expect.anything()]);
    return response.json();
  };
  const opened = ({ signed_url: url }: Configuration, secrets: readonly string[], now = new Date()) => {
    const link = openSignedQuery(url.slice(url.indexOf('?') + 1), secrets, now);
    return link === null || link.hasExpired ? null : link.parameters;
  };

  it('200: returns a link with every parameter that is valid until it expires', async () => {
    const before = Date.now();
    const given = await configuration(FULL);
    expect(given).toEqual({
      signed_url: expect.stringMatching(/^https:\/\/pay\.example\/base\/widget\?/),
      expires_at: expect.any(String),
      token: 'sol',
      chain: 'solana',
      onramps: [
        expect.objectContaining({ id: 'example-card', url: expect.stringContaining(ADDRESS) }),
        expect.objectContaining({ id: 'example-bank' }),
      ],
      compliance_notice: null,
    });
    const expiry = Date.parse(given.expires_at);
    expect(expiry - before).toBeGreaterThan(29 * 60_000);
    expect(expiry - Date.now()).toBeLessThanOrEqual(30 * 60_000);
    const { apiKey, secret } = signing.credentials;
    const parameters = { api_key: apiKey, ...FULL };
    expect(opened(given, [secret])).toEqual(parameters);
    expect(opened(given, [secret], new Date(expiry - 1))).toEqual(parameters);
    expect(opened(given, [secret], new Date(expiry))).toBeNull();
    // No signature in the response opens a link to another address.
    expect(given.signed_url).not.toContain(exchangeSignature(secret, ADDRESS));
  });

  it('200: returns only the requested parameters and a different link each time', async () => {
    const [one, other] = [await configuration(LEAST, open), await configuration(LEAST, open)];
    const { apiKey, secret } = open.credentials;
    expect(opened(one, [secret])).toEqual({ api_key: apiKey, ...LEAST });
    const nonces = [one, other].map(({ signed_url }) => new URL(signed_url).searchParams.get('nonce'));
    expect(new Set(nonces).size).toBe(2);
    expect(one).toMatchObject({ chain: 'solana' });
    expect(one.onramps).toHaveLength(2);
  });

  it('200: returns a return_url if the whole query is signed, with 401 otherwise and 422 if it is no URL', async () => {
    for (const key of [signing, open]) {
      const { apiKey, secret } = key.credentials;
      const ask = (return_url: string) => {
        const query = { ...LEAST, return_url };
        const signature_v2 = querySignature(secret, CONFIGURATION, { api_key: apiKey, ...query });
        return key.get(CONFIGURATION, { ...query, signature_v2 }, null);
      };
      const given = await ask('https://shop.example/done?order=7');
      expect(given.status).toBe(200);
      expect(opened(given.json(), [secret])).toMatchObject({
        return_url: 'https://shop.example/done?order=7',
      });
      expectProblem(await ask('shop.example'), 422, fault('return_url'));
      expect((await key.get(CONFIGURATION, { ...LEAST, return_url: 'https://a.example' })).status).toBe(401);
    }
  });

  it.each<[string, Record<string, string>, string]>([
    ['a tag with a line feed', { withdraw_address_tag: 'a\nb' }, 'withdraw_address_tag'],
    ['an empty user', { user_id: '' }, 'user_id'],
    ['an unknown on-ramp', { onramp_only_onramps: 'example-card,nobody' }, 'onramp_only_onramps'],
  ])('422: refuses %s', async (_, change, name) => {
    expectProblem(await open.get(CONFIGURATION, { ...LEAST, ...change }), 422, fault(name));
  });

  it('422: names every invalid parameter', async () => {
    const wrong = { token: 'x', chain: 'x', withdraw_address: 'x', onramp_amount: 'x', onramp_fiat: 'x' };
    const faults = Object.assign({}, ...Object.keys(wrong).map(fault)) as object;
    expectProblem(await open.get(CONFIGURATION, wrong), 422, faults);
  });

  it('200: neither signs nor returns unknown parameters. 400: refuses very long parameters', async () => {
    const given = await configuration({ ...LEAST, nonce: 'mine', expires: '9999999999', __proto: '1' }, open);
    const query = new URL(given.signed_url).searchParams;
    expect([query.getAll('nonce').length, query.has('__proto')]).toEqual([1, false]);
    expect(query.getAll('expires')).toEqual([expect.not.stringMatching('9999999999')]);
    expectProblem(await open.get(CONFIGURATION, { ...LEAST, any: LONG }), 400);
    expectProblem(await open.get(CONFIGURATION, { ...LEAST, ['__proto__']: LONG }), 400);
    expectProblem(await open.get(CONFIGURATION, { ...LEAST, [LONG]: '1' }), 400);
  });
});

describe('GET /v1/tokens', () => {
  it('200: returns tokens with their chains and pairs, with and without a signature', async () => {
    const { tokens, compliance_notice } = (await open.get(TOKENS, { to_token: 'sol' })).json<{
      tokens: { id: string; pair_ids: string[]; icon_url: string }[];
      compliance_notice: null;
    }>();
    expect(compliance_notice).toBeNull();
    expect(tokens.find(({ id }) => id === 'usdc')).toMatchObject({
      name: 'USD Coin',
      chains: expect.arrayContaining([{ id: 'ethereum', name: 'Ethereum' }]),
      pair_ids: expect.arrayContaining(['USDCSOL']),
    });
    for (const { icon_url } of tokens) expect(icon_url).toMatch(/^https:\/\/api\.example\/base\/icons\//);
    const query = { to_token: 'sol', to_chain: 'solana', user_id: 'ann', more: 'ignored' };
    expect((await signing.get(TOKENS, query, null)).json()).toMatchObject({ tokens });
  });

  it('422: refuses a chain that the token does not have', async () => {
    expectProblem(await open.get(TOKENS, { to_token: 'sol', to_chain: 'btc' }), 422, fault('to_chain'));
  });
});

it('the icon of each token can be cached and has no script; an unknown icon name gets 404', async () => {
  for (const { id } of ALL_TOKENS) {
    const url = iconUrl(httpConfig({ PUBLIC_URL }), id);
    const response = await fetch(url.replace('https://api.example/base', app.url));
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('image/svg+xml; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    const onPage = await fetch(url.replace('https://api.example/base', payUrl(app)));
    expect(onPage.headers.get('content-type')).toBe('image/svg+xml; charset=utf-8');
    const svg = await response.text();
    expect(svg).toMatch(/^<svg .*<\/svg>$/s);
    expect(svg).not.toMatch(/script|href|url\(|on\w+=|<!/i);
  }
  for (const name of ['usdc.svg', 'constructor', '..%2f..%2fpackage.json', 'usdc-000000000000.svg', '%00'])
    expect((await fetch(`${app.url}/icons/${name}`)).status).toBe(404);
});
