import { beforeAll, describe, expect, it } from '@jest/globals';
import { onEdgeApp } from '../../support/http/edge-app.js';
import {
  exchangeSignature,
  querySignature,
  type ExchangeClient,
} from '../../support/exchange/exchange-client.js';
import { keyOf, startExchangeEdge } from '../../support/exchange/exchange-edge.js';

const ADDRESS = '7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV';
const OTHER_ADDRESS = '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin';
const CONFIGURATION = '/v1/merchants/configuration';

describe('a signature of the whole query (contract.md 21.8)', () => {
  const edge = onEdgeApp({ RATE_LIMIT_PER_MINUTE: '1000' }, startExchangeEdge);
  let signing: ExchangeClient;
  let open: ExchangeClient;
  beforeAll(() => {
    signing = keyOf(edge, { demandsSignature: true });
    open = keyOf(edge);
  });

  const MEMO = { withdraw_address: ADDRESS, withdraw_address_memo: "7 'a'&b=1/~" };
  const BACK = { withdraw_address: ADDRESS, return_url: 'https://shop.example/?a=b' };
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
  const ofAddress = ({ credentials: { secret } }: ExchangeClient) => ({
    signature: exchangeSignature(secret, ADDRESS),
  });

  it.each([CONFIGURATION, '/v1/orders'])(
    '%s: needed for a memo by keys that were issued so',
    async (path) => {
      const done = path === CONFIGURATION ? 200 : 201;
      const full = keyOf(edge, { demandsSignature: true, memoSigning: 'full' });
      const tag = { withdraw_address: ADDRESS, withdraw_address_tag: '7' };
      for (const query of [MEMO, tag]) {
        expect(await call(full, path, { ...query, ...ofAddress(full) })).toBe(401);
        expect(await call(signing, path, { ...query, ...ofAddress(signing) })).toBe(done);
        expect(await call(full, path, signedQuery(full, path, query))).toBe(done);
        expect(await call(signing, path, signedQuery(signing, path, query))).toBe(done);
        expect(await call(full, path, signedQuery(full, path, { ...query, ...ofAddress(full) }))).toBe(done);
      }
      // Without one the contract's form is enough; an empty one is none.
      const none = { withdraw_address: ADDRESS, withdraw_address_memo: '', ...ofAddress(full) };
      expect(await call(full, path, none)).toBe(done);
    },
  );

  it('refuses what was added, changed or removed, and signatures of another kind or key', async () => {
    const full = keyOf(edge, { demandsSignature: true, memoSigning: 'full' });
    const { secret } = full.credentials;
    for (const path of [CONFIGURATION, '/v1/orders']) {
      const right = signedQuery(full, path, { ...MEMO, user_id: 'u' });
      const less = { ...right };
      delete less['user_id'];
      const wrong: Record<string, string>[] = [
        signedQuery(full, path, MEMO, { withdraw_address_memo: '8' }),
        signedQuery(full, path, MEMO, { user_id: 'u' }),
        signedQuery(full, path, { withdraw_address: ADDRESS }, { withdraw_address_memo: '7' }),
        signedQuery(full, path, MEMO, { signature: exchangeSignature(secret, OTHER_ADDRESS) }),
        less,
        // Of a link.
        signedQuery(full, '/widget', MEMO),
        { ...MEMO, ...ofAddress(full), signature_v2: ofAddress(full).signature },
        { ...MEMO, ...ofAddress(full), signature_v2: '' },
        { ...MEMO, ...ofAddress(full), signature_v2: right['signature_v2']!.toUpperCase() },
        { ...MEMO, signature_v2: querySignature(signing.credentials.secret, path, MEMO) },
      ];
      for (const query of wrong)
        expect([path, query, await call(full, path, query)]).toEqual([path, query, 401]);
      expect(await call(full, path, right)).toBe(path === CONFIGURATION ? 200 : 201);
    }
  });

  it('is needed for a return_url by every key, also by one that demands no signature', async () => {
    for (const client of [signing, open]) {
      expect(await call(client, CONFIGURATION, BACK)).toBe(401);
      expect(await call(client, CONFIGURATION, { ...BACK, ...ofAddress(client) })).toBe(401);
      expect(await call(client, CONFIGURATION, signedQuery(client, CONFIGURATION, BACK))).toBe(200);
    }
  });
});
