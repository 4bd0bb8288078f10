import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { CommandBus } from '@nestjs/cqrs';
import { issueExchangeKey } from '../../../sandbox/issuing.js';
import { SuspendMerchant } from '../../../src/contexts/access/merchants/merchants.commands.js';
import { sharedApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { ExchangeClient, exchangeSignature, querySignature } from '../../support/exchange/exchange-client.js';
import { ADDRESS, OTHER_ADDRESS } from '../../support/exchange/order-fixtures.js';
import { send, type ApiResponse } from '../../support/http/signed-client.js';

const TITLE = 'Invalid API key or signature';
const LIST = '/v1/merchant/orders';
const CONFIGURATION = '/v1/merchants/configuration';
const DATES = { start_date: '2026-01-01', end_date: '2026-01-02' };
/** The union of the parameters of orders, the configuration and tokens. */
const REQUEST = { pair_id: 'USDCSOL', token: 'sol', to_token: 'sol', withdraw_address: ADDRESS };

const app = await sharedApp();
const { signing, open } = app.exchange;

describe('the authentication of the exchange API', () => {
  const ask = (target: string, headers: Record<string, string> = {}): Promise<ApiResponse> =>
    send(`${app.url}${target}`, { headers });
  const expectRefused = (response: ApiResponse): void => {
    expect(response.status).toBe(401);
    expect(response.headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(response.headers['request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(response.json()).toMatchObject({ type: 'about:blank', title: TITLE, status: 401, errors: {} });
  };

  it('refuses missing, malformed and unknown keys in the same words, even on unknown paths', async () => {
    const details = new Set<unknown>();
    for (const query of ['', '?api_key=', '?api_key=nobody', `?api_key=${randomUUID()}`, '?API_KEY=x'])
      for (const path of ['/v1/tokens', '/v1/nothing', '/v1', '/v1/merchant/orders/', CONFIGURATION]) {
        const refused = await ask(path + query);
        expectRefused(refused);
        details.add(refused.json()['detail']);
      }
    expect([...details]).toEqual(['A valid API key is required in the query parameter api_key']);
    expectRefused(await ask(`/v1/tokens?api_key=${app.merchant.credentials.apiKey}`));
    // The header works only for the list, and the query works only for the others.
    expectRefused(await ask('/v1/tokens', { 'x-api-key': open.credentials.apiKey }));
    const { apiKey, secret } = open.credentials;
    expectRefused(await ask(`${LIST}?api_key=${apiKey}`, { 'x-signature': exchangeSignature(secret, '') }));
  });

  it('responds with 404 or 405 to an unknown path or method if the key is valid', async () => {
    expect((await open.get('/v1/tokens', REQUEST)).status).toBe(200);
    expect((await open.get('/v1/nothing')).status).toBe(404);
    expect((await open.call({ method: 'DELETE', path: '/v1/tokens' })).status).toBe(405);
  });

  it.each([
    ['POST', '/v1/orders', 201],
    ['GET', CONFIGURATION, 200],
  ] as const)('accepts %s %s with a signature over the withdrawal address', async (method, path, done) => {
    const call = (client: ExchangeClient, query: Record<string, string>, signs?: string | null) =>
      client.call({ method, path, query: { ...REQUEST, ...query }, signs });
    expect((await call(signing, {})).status).toBe(done);
    expect((await call(open, {})).status).toBe(done);
    expectRefused(await call(signing, {}, null));
    const right = exchangeSignature(signing.credentials.secret, ADDRESS);
    for (const client of [signing, open]) {
      expectRefused(await call(client, {}, OTHER_ADDRESS));
      expectRefused(await call(client, { signature: '' }, null));
      expectRefused(await call(client, { signature: right.toUpperCase() }, null));
    }
    // A signature of another key.
    expectRefused(await call(open, { signature: right }, null));
    // A signature over a missing address.
    expectRefused(await signing.call({ method, path, signs: ADDRESS }));
  });

  it('accepts the configuration signature in a header too; two signatures must both be valid', async () => {
    const right = exchangeSignature(signing.credentials.secret, ADDRESS);
    const wrong = exchangeSignature(signing.credentials.secret, OTHER_ADDRESS);
    const configuration = async (query: string | undefined, header: string | undefined) => {
      const response = await signing.call({
        path: CONFIGURATION,
        signs: null,
        query: { ...REQUEST, signature: query },
        headers: header === undefined ? {} : { 'x-signature': header },
      });
      return response.status;
    };
    expect(await configuration(undefined, right)).toBe(200);
    expect(await configuration(right, right)).toBe(200);
    for (const [query, header] of [
      [undefined, wrong],
      [right, wrong],
      [wrong, right],
      [undefined, `${right}, ${right}`],
    ])
      expect(await configuration(query, header)).toBe(401);
    // An order accepts the signature only in the query.
    const headers = { 'x-signature': right };
    const order = { method: 'POST', path: '/v1/orders', query: REQUEST, signs: null, headers } as const;
    expectRefused(await signing.call(order));
  });

  it('verifies a signature over the percent-decoded address', async () => {
    const { apiKey, secret } = signing.credentials;
    for (const [encoded, decoded] of [
      ['a%20b', 'a b'],
      ['a+b', 'a b'],
      ['%C3%A9%26x%3D1', 'é&x=1'],
      ['%2B', '+'],
    ] as const) {
      const signature = exchangeSignature(secret, decoded);
      const target = `/v1/orders?api_key=${apiKey}&withdraw_address=${encoded}&signature=${signature}`;
      // 422 is authenticated, although the address is invalid.
      expect((await send(`${app.url}${target}`, { method: 'POST' })).status).toBe(422);
    }
  });

  it('accepts a list request only with a header signature over an empty address, for any key and filter', async () => {
    for (const client of [signing, open]) {
      expect((await client.list({ ...DATES, withdraw_address: ADDRESS })).status).toBe(200);
      expectRefused(await client.get(LIST, {}, null));
      // The signature in a link to the address.
      expectRefused(await client.get(LIST, { withdraw_address: ADDRESS }, ADDRESS));
      expectRefused(await client.get(LIST, { withdraw_address: ADDRESS }, OTHER_ADDRESS));
      expectRefused(await client.get(LIST, {}, ADDRESS));
      const { apiKey, secret } = client.credentials;
      const query = `?signature=${exchangeSignature(secret, '')}`;
      expectRefused(await ask(LIST + query, { 'x-api-key': apiKey }));
    }
    const unknown = await ask(LIST, { 'x-api-key': randomUUID(), 'x-signature': 'a' });
    expectRefused(unknown);
    expect(unknown.json()['detail']).toBe('A valid API key is required in the header X-Api-Key');
    // The spelling of the path does not matter.
    expectRefused(await open.get('/v1/merchant/%6Frders'));
  });

  it('refuses any repeated parameter in any spelling', async () => {
    const { apiKey } = open.credentials;
    for (const [query, name] of [
      ['withdraw_address=a&withdraw_address=b', 'withdraw_address'],
      [`api_key=${apiKey}`, 'api_key'],
      ['nobody_knows=1&nobody_knows=', 'nobody_knows'],
    ] as const)
      for (const path of ['/v1/tokens', '/v1/nothing', LIST]) {
        const refused = await ask(`${path}?api_key=${apiKey}&${query}`);
        expect([refused.status, refused.json()['detail']]).toEqual([400, `${name} must be given once`]);
      }
  });

  it('refuses a suspended merchant with 403, or with 401 if the signature is wrong', async () => {
    const { apiKey: merchantId } = (await app.newMerchant()).credentials;
    const { apiKey, secret } = (await app.newExchangeKey(true, merchantId)).credentials;
    await app.app.get(CommandBus).execute(new SuspendMerchant(merchantId));
    const by = (own: string) => new ExchangeClient(app.url, { apiKey, secret: own }).order(REQUEST);
    const refused = await eventually(async () => {
      const response = await by(secret);
      return response.status === 403 && response;
    });
    expect(refused.json()['detail']).toBe('The merchant is suspended');
    expectRefused(await by('wrong'));
  });

  it('refuses an address outside the allow-list of the key, even if a header claims another', async () => {
    const issue = [app.app.get(CommandBus), app.merchant.credentials.apiKey, false] as const;
    const { keyId: apiKey, secret } = await issueExchangeKey(...issue, { addresses: ['203.0.113.0/24'] });
    const bound = new ExchangeClient(app.url, { apiKey, secret });
    const headers = { 'x-forwarded-for': '203.0.113.9' };
    const refused = await bound.call({ path: '/v1/tokens', headers });
    const detail = 'The address is outside the IP allow-list of the API key';
    expect([refused.status, refused.json()['detail']]).toEqual([403, detail]);
  });

  it('reads no large body, and no body of a refused caller', async () => {
    const large = (client: ExchangeClient): Promise<ApiResponse> =>
      client.call({ method: 'POST', path: '/v1/orders', body: 'x'.repeat(20_000) });
    expect((await large(open)).status).toBe(413);
    expectRefused(await large(new ExchangeClient(app.url, { apiKey: randomUUID(), secret: '' })));
    const empty = await open.call({ method: 'POST', path: '/v1/orders', query: REQUEST, body: '' });
    expect(empty.status).toBe(201);
  });

  describe('a signature of the whole query (contract.md 21.8)', () => {
    const MEMO = { ...REQUEST, withdraw_address_memo: "7 'a'&b=1/~" };
    const call = async (client: ExchangeClient, path: string, query: Record<string, string>) => {
      const method = path === CONFIGURATION ? 'GET' : 'POST';
      return (await client.call({ method, path, query, signs: null })).status;
    };
    const signedQuery = (
      client: ExchangeClient,
      path: string,
      query: Record<string, string>,
      also: Record<string, string> = {},
    ): Record<string, string> => {
      const { apiKey, secret } = client.credentials;
      return { ...query, signature_v2: querySignature(secret, path, { api_key: apiKey, ...query }), ...also };
    };
    const ofAddress = ({ credentials: { secret } }: ExchangeClient, address = ADDRESS) => {
      return { signature: exchangeSignature(secret, address) };
    };

    it.each([CONFIGURATION, '/v1/orders'])('on %s is needed for a memo by keys issued so', async (path) => {
      const done = path === CONFIGURATION ? 200 : 201;
      const full = await app.newExchangeKey(true, undefined, 'full');
      const tag = { ...REQUEST, withdraw_address_tag: '7' };
      for (const query of [MEMO, tag]) {
        expect(await call(full, path, { ...query, ...ofAddress(full) })).toBe(401);
        expect(await call(signing, path, { ...query, ...ofAddress(signing) })).toBe(done);
        expect(await call(full, path, signedQuery(full, path, query))).toBe(done);
        expect(await call(signing, path, signedQuery(signing, path, query))).toBe(done);
        expect(await call(full, path, signedQuery(full, path, { ...query, ...ofAddress(full) }))).toBe(done);
      }
      // The contract's form suffices if there is no memo, or an empty one.
      const none = { ...REQUEST, withdraw_address_memo: '', ...ofAddress(full) };
      expect(await call(full, path, none)).toBe(done);
    });

    it.each([CONFIGURATION, '/v1/orders'])(
      'on %s is refused if a parameter differs, or if another path was signed',
      async (path) => {
        const full = await app.newExchangeKey(true, undefined, 'full');
        const right = signedQuery(full, path, { ...MEMO, user_id: 'u' });
        const { user_id: _, ...less } = right;
        for (const query of [
          less,
          signedQuery(full, path, MEMO, { withdraw_address_memo: '8' }),
          signedQuery(full, path, MEMO, { user_id: 'u' }),
          signedQuery(full, path, MEMO, ofAddress(full, OTHER_ADDRESS)),
          // A signature of a link.
          signedQuery(full, '/widget', MEMO),
          { ...MEMO, ...ofAddress(full), signature_v2: '' },
          { ...MEMO, signature_v2: querySignature(signing.credentials.secret, path, MEMO) },
        ])
          expect([query, await call(full, path, query)]).toEqual([query, 401]);
        expect(await call(full, path, right)).toBe(path === CONFIGURATION ? 200 : 201);
      },
    );
  });
});
