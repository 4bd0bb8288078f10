import { describe, expect, it } from '@jest/globals';
import type { FastifyRequest } from 'fastify';
import { exchangeSignature, querySignature } from '../../../../test/support/exchange/exchange-client.js';
import { httpConfig } from '../../../platform/config/config.js';
import type { MerchantProfile } from '../../../platform/http/merchant-directory.js';
import { Refusal } from '../../../platform/http/problem.js';
import type { MemoryBudget } from '../../../platform/http/request-body.js';
import { RequestState } from '../../../platform/http/request-state.js';
import type { KnownExchangeKey } from '../../access/access.contract.js';
import { exchangeConfig } from '../exchange.config.js';
import { ExchangeKeyGuard, ProviderBudget } from './exchange-key.guard.js';

const ADDRESS = '7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV';
const [LIST, ORDERS, CONFIGURATION] = ['/v1/merchant/orders', '/v1/orders', '/v1/merchants/configuration'];
const TOKENS = '/v1/tokens';
const KEY: KnownExchangeKey = {
  keyId: 'key',
  merchantId: 'merchant',
  demandsSignature: true,
  memoSigning: 'contract',
  secrets: ['older', 'newer'],
  secretIds: ['id of older', 'id of newer'],
  cidrs: [],
  withdrawAddresses: [],
  page: {} as KnownExchangeKey['page'],
};

interface Call {
  /** The registered route; null for an unknown path. */
  readonly route: string | null;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The outcome of a request: its caller, or the status and detail of the refusal. */
async function identify({ route, query = {}, headers = {} }: Call, key: Partial<KnownExchangeKey> = {}) {
  const authentication = new ExchangeKeyGuard(
    {
      find: async (apiKey) =>
        apiKey === 'key' || apiKey === 'orphan' ? { ...KEY, ...key, merchantId: apiKey } : null,
    },
    { find: async (id) => (id === 'key' ? ({ status: 'active' } as MerchantProfile) : null) },
    {} as MemoryBudget,
  );
  const edge = Object.assign(new RequestState(), { route, client: '203.0.113.9' });
  const parameters = route === LIST ? query : { api_key: 'key', ...query };
  const given = route === LIST ? { 'x-api-key': 'key', ...headers } : headers;
  const raw = { url: `${route ?? '/v1/nothing'}?x`, headers: given };
  const request = { edge, query: parameters, headers: given, raw } as unknown as FastifyRequest;
  const refusal = await authentication.identify(request).then(
    () => null,
    (error: Refusal) => error.problem,
  );
  return {
    outcome: refusal === null ? 'identified' : `${refusal.status} ${refusal.detail.slice(0, 40)}`,
    countedAs: edge.identifiedMerchant?.countedAs,
    signedBy: edge.credentialId,
    stringToSign: refusal?.stringToSign ?? null,
  };
}

const ofAddress = (secret = 'newer'): { readonly withdraw_address: string; readonly signature: string } => ({
  withdraw_address: ADDRESS,
  signature: exchangeSignature(secret, ADDRESS),
});
const ofQuery = (path: string, secret = 'newer'): Record<string, string> => ({
  withdraw_address: ADDRESS,
  signature_v2: querySignature(secret, path, { api_key: 'key', withdraw_address: ADDRESS }),
});
const ofList = (secret: string): Call => ({
  route: LIST,
  headers: { 'x-signature': exchangeSignature(secret, '') },
});
const inHeader: Call = {
  route: CONFIGURATION,
  query: { withdraw_address: ADDRESS },
  headers: { 'x-signature': ofAddress().signature },
};
const EACH_CLIENT = 'key/203.0.113.9';

describe('a request of the exchange API', () => {
  it.each<[string, Call, Partial<KnownExchangeKey>, string]>([
    ['that lists orders', ofList('newer'), {}, 'key'],
    ['with a wrong signature that lists orders', ofList('other'), {}, 'key'],
    ['of a key that is bound to networks', { route: TOKENS }, { cidrs: ['203.0.113.0/24'] }, 'key'],
    ['whose query is signed', { route: ORDERS, query: ofQuery(ORDERS) }, {}, 'key'],
    ['whose query is signed by another', { route: ORDERS, query: ofQuery(ORDERS, 'other') }, {}, EACH_CLIENT],
    ['whose address alone is signed', { route: ORDERS, query: ofAddress() }, {}, EACH_CLIENT],
    ['that needs no signature', { route: TOKENS }, {}, EACH_CLIENT],
    ['that needs no signature, with one', { route: TOKENS, query: { signature_v2: 'x' } }, {}, EACH_CLIENT],
  ])('%s is limited per client, or per key if only owners can send it', async (_, call, key, countedAs) => {
    expect(await identify(call, key)).toMatchObject({ countedAs });
  });

  it.each<[string, Call, Partial<KnownExchangeKey>, string | null]>([
    ['for the list', ofList('older'), {}, 'id of older'],
    ['over an address', { route: ORDERS, query: ofAddress() }, {}, 'id of newer'],
    ['over a query', { route: CONFIGURATION, query: ofQuery(CONFIGURATION, 'older') }, {}, 'id of older'],
    ['in a header of the configuration', inHeader, {}, 'id of newer'],
    ['null, if the key demands none', { route: ORDERS }, { demandsSignature: false }, null],
  ])('is logged with the id of the secret that signed it: %s', async (_, call, key, signedBy) => {
    expect(await identify(call, key)).toMatchObject({ outcome: 'identified', signedBy });
  });

  it('is refused if the merchant of its key is unknown', async () => {
    const refused = { outcome: '401 A valid API key is required in the query', signedBy: null };
    expect(await identify({ route: TOKENS, query: { api_key: 'orphan' } })).toMatchObject(refused);
  });

  it.each([
    ['over the address', ofAddress('other'), /^withdraw_address=[^?]+$/],
    ['over the query', ofQuery(ORDERS, 'other'), /^\/v1\/orders\?.+$/],
  ])(
    'with a wrong signature %s is refused, and the text to sign is logged without the address',
    async (_, query, expected) => {
      const { stringToSign } = await identify({ route: ORDERS, query });
      expect(stringToSign).toMatch(expected);
      expect(stringToSign).not.toContain(ADDRESS);
    },
  );

  it.each([
    [ORDERS, ADDRESS, 'identified'],
    [ORDERS, 'another', '403 The API key pays out to other addresses '],
    [CONFIGURATION, 'another', '403 The API key pays out to other addresses '],
    [TOKENS, 'another', 'identified'],
  ])('to %s by a key with the only payout address %s has the result: %s', async (route, bound, outcome) => {
    const key = { withdrawAddresses: [bound] };
    expect(await identify({ route: route!, query: ofAddress() }, key)).toMatchObject({ outcome });
  });
});

const budgetOf = (exchangeProviderCallsPerMinute: number | null, rateLimitPerMinute = 100) =>
  new ProviderBudget(
    { ...exchangeConfig({}), exchangeProviderCallsPerMinute },
    { ...httpConfig({}), rateLimitPerMinute },
  );
const accepted = (budget: ProviderBudget, countedAs: string, times: number): number => {
  let passed = 0;
  for (let n = 0; n < times; n += 1)
    try {
      budget.take('key', countedAs);
      passed += 1;
    } catch (error) {
      const headers = { 'retry-after': expect.any(String) };
      expect((error as Refusal).problem).toMatchObject({ status: 429, headers });
    }
  return passed;
};

describe('the budget of calls to a provider', () => {
  it('allows each client of a key a fifth of the budget, and all clients together the whole budget', () => {
    const budget = budgetOf(10);
    for (const last of [1, 2, 3, 4]) expect(accepted(budget, `key/203.0.113.${last}`, 20)).toBe(2);
    expect(accepted(budget, 'key/203.0.113.5', 1)).toBe(1);
    expect(accepted(budget, 'key/2001:db8:0:0', 20)).toBe(1);
  });

  it('gives the owner of the key a separate budget', () => {
    const budget = budgetOf(10);
    for (const last of [1, 2, 3, 4, 5]) accepted(budget, `key/203.0.113.${last}`, 20);
    expect(accepted(budget, 'key', 20)).toBe(10);
  });

  it('allows a single client its whole rate limit by default', () => {
    const budget = budgetOf(null, 7);
    for (const last of [1, 2, 3, 4, 5]) expect(accepted(budget, `key/203.0.113.${last}`, 20)).toBe(7);
    expect(accepted(budget, 'key/203.0.113.6', 20)).toBe(0);
    expect(accepted(budget, 'key', 50)).toBe(35);
  });
});
