import { describe, expect, it } from '@jest/globals';
import { onEdgeApp } from '../../support/http/edge-app.js';
import { ExchangeClient, exchangeSignature, querySignature } from '../../support/exchange/exchange-client.js';
import { keyOf, startExchangeEdge } from '../../support/exchange/exchange-edge.js';
import type { ApiResponse } from '../../support/http/signed-client.js';

const ADDRESS = '7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV';
const LIST = '/v1/merchant/orders';

describe('the edge of the exchange counts requests (contract.md 21.6)', () => {
  const limited = onEdgeApp({ RATE_LIMIT_PER_MINUTE: '3', TRUST_PROXY: '127.0.0.1' }, startExchangeEdge);

  const orders = (client: ExchangeClient): Promise<ApiResponse> =>
    client.call({ method: 'POST', path: '/v1/orders', query: { withdraw_address: ADDRESS } });
  const statuses = async (times: number, call: () => Promise<ApiResponse>): Promise<number[]> => {
    const all: number[] = [];
    for (let n = 0; n < times; n += 1) all.push((await call()).status);
    return all;
  };

  it('of each key apart from others and from the merchant API', async () => {
    const merchant = limited.client();
    const merchantId = merchant.credentials.apiKey;
    const busy = keyOf(limited, { merchantId });
    const sister = keyOf(limited, { merchantId });
    const first = await busy.get('/v1/tokens');
    expect(first.headers['ratelimit-policy']).toBe('"key";q=3;w=60');
    expect(first.headers['ratelimit']).toMatch(/^"key";r=2;t=\d+$/);
    expect(await statuses(3, () => busy.get('/v1/tokens'))).toEqual([200, 200, 429]);
    const over = await busy.get('/v1/nothing');
    expect(over.status).toBe(429);
    expect(Number(over.headers['retry-after'])).toBeGreaterThan(0);
    expect((await sister.get('/v1/tokens')).status).toBe(200);
    const own = await merchant.get('/merchants/v1/probe/whoami');
    expect([own.status, own.headers['ratelimit-policy']]).toEqual([200, '"merchant";q=3;w=60']);
  });

  it('of each client with a key apart: who has one link leaves the others and the owner theirs', async () => {
    const owner = keyOf(limited, { demandsSignature: true });
    const { apiKey, secret } = owner.credentials;
    const from = (last: number) => ({ 'x-forwarded-for': `203.0.113.${last}` });
    const link = { withdraw_address: ADDRESS, signature: exchangeSignature(secret, ADDRESS) };
    const byLink = (last: number) =>
      owner.call({ method: 'POST', path: '/v1/orders', query: link, signs: null, headers: from(last) });
    expect(await statuses(4, () => byLink(1))).toEqual([201, 201, 201, 429]);
    const stranger = new ExchangeClient(limited.url, { apiKey, secret: 'guessed' });
    const tokens = { path: '/v1/tokens', headers: from(1) };
    const act = { method: 'PATCH', path: '/v1/orders/x/cancel', signs: ADDRESS, headers: from(1) } as const;
    const unneeded = { ...tokens, query: { signature_v2: 'ignored' } };
    for (const call of [tokens, act, unneeded]) expect((await stranger.call(call)).status).toBe(429);
    expect(await statuses(3, () => orders(stranger))).toEqual([401, 401, 401]);
    expect(await statuses(4, () => byLink(2))).toEqual([201, 201, 201, 429]);
    // What only the owner can sign, from wherever it comes.
    const list = () => owner.call({ path: LIST, headers: from(1) });
    expect(await statuses(4, list)).toEqual([200, 200, 200, 429]);
    const query = { api_key: apiKey, withdraw_address: ADDRESS };
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

  it('of a key that is bound to addresses as its owner’s', async () => {
    const bound = keyOf(limited, { cidrs: ['203.0.113.0/24'] });
    let last = 1;
    const elsewhere = () =>
      bound.call({ path: '/v1/tokens', headers: { 'x-forwarded-for': `203.0.113.${(last += 1)}` } });
    expect(await statuses(4, elsewhere)).toEqual([200, 200, 200, 429]);
  });
});
