import { describe, expect, it } from '@jest/globals';
import { onTestApp } from '../../support/app.js';
import { ExchangeClient, exchangeSignature, querySignature } from '../../support/exchange/exchange-client.js';
import { ADDRESS } from '../../support/exchange/order-fixtures.js';
import type { ApiResponse } from '../../support/http/signed-client.js';

const LIST = '/v1/merchant/orders';
const DATES = { start_date: '2026-01-01', end_date: '2026-01-02' };
const REQUEST = { pair_id: 'USDCSOL', withdraw_address: ADDRESS };
const TOKENS = { path: '/v1/tokens', query: { to_token: 'sol' } };

describe('the limit of the exchange API (contract.md 21.6)', () => {
  /** A separate service, because of its limits. */
  const app = onTestApp({ RATE_LIMIT_PER_MINUTE: '3', TRUST_PROXY: '127.0.0.1' });

  const orders = (client: ExchangeClient): Promise<ApiResponse> => client.order(REQUEST);
  const statuses = async (times: number, call: () => Promise<ApiResponse>): Promise<number[]> => {
    const all: number[] = [];
    for (let n = 0; n < times; n += 1) all.push((await call()).status);
    return all;
  };

  it('counts requests of each key separately from other keys and from the merchant API', async () => {
    const { open: busy, signing: sister } = app.exchange;
    const first = await busy.call(TOKENS);
    expect(first.headers['ratelimit-policy']).toBe('"key";q=3;w=60');
    expect(first.headers['ratelimit']).toMatch(/^"key";r=2;t=\d+$/);
    expect(await statuses(3, () => busy.call(TOKENS))).toEqual([200, 200, 429]);
    const over = await busy.get('/v1/nothing');
    expect(over.status).toBe(429);
    expect(Number(over.headers['retry-after'])).toBeGreaterThan(0);
    expect((await sister.call(TOKENS)).status).toBe(200);
    const own = await app.merchant.get('/merchants/v1/webhook_endpoints');
    expect([own.status, own.headers['ratelimit-policy']]).toEqual([200, '"merchant";q=3;w=60']);
  });

  it('counts requests of a key per client address, so that one link blocks no other client', async () => {
    const owner = await app.newExchangeKey(true);
    const { apiKey, secret } = owner.credentials;
    const from = (last: number) => ({ 'x-forwarded-for': `203.0.113.${last}` });
    const link = { ...REQUEST, signature: exchangeSignature(secret, ADDRESS) };
    const byLink = (last: number) =>
      owner.call({ method: 'POST', path: '/v1/orders', query: link, signs: null, headers: from(last) });
    expect(await statuses(4, () => byLink(1))).toEqual([201, 201, 201, 429]);
    const stranger = new ExchangeClient(app.url, { apiKey, secret: 'guessed' });
    const tokens = { ...TOKENS, headers: from(1) };
    const act = { method: 'PATCH', path: '/v1/orders/x/cancel', signs: ADDRESS, headers: from(1) } as const;
    const unneeded = { ...tokens, query: { ...TOKENS.query, signature_v2: 'ignored' } };
    for (const call of [tokens, act, unneeded]) expect((await stranger.call(call)).status).toBe(429);
    expect(await statuses(3, () => orders(stranger))).toEqual([401, 401, 401]);
    expect(await statuses(4, () => byLink(2))).toEqual([201, 201, 201, 429]);
    // Only the owner can sign the list, from any address.
    const list = () => owner.call({ path: LIST, query: DATES, headers: from(1) });
    expect(await statuses(4, list)).toEqual([200, 200, 200, 429]);
    const query = { api_key: apiKey, ...REQUEST };
    const whole = { ...query, signature_v2: querySignature(secret, '/v1/orders', query) };
    const byQuery = {
      method: 'POST',
      path: '/v1/orders',
      query: whole,
      signs: null,
      headers: from(3),
    } as const;
    expect((await owner.call(byQuery)).status).toBe(429);
  });
});
