import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { MerchantDirectory } from '../../../platform/http/merchant-directory.js';
import type { KnownExchangeKey } from '../../access/contract.js';
import type { ExchangeCredentials } from './caller.js';
import { ExchangeAuthentication } from './exchange-authentication.js';

const [LIST, CONFIGURATION, ORDERS] = ['/v1/merchant/orders', '/v1/merchants/configuration', '/v1/orders'];
const [SECRET, ADDRESS] = ['secret', 'address'];
const KEY = {
  ...{ keyId: 'k', merchantId: 'm', demandsSignature: true, memoSigning: 'contract', secrets: [SECRET] },
  cidrs: [],
} as unknown as KnownExchangeKey;

const hmac = (text: string): string => createHmac('sha256', SECRET).update(text).digest('hex');
const ofAddress = (address = ADDRESS): string => hmac(`withdraw_address=${address}`);
const ofQuery = (path: string, sorted: string): string => hmac(`${path}?${sorted}`);

interface Asked {
  readonly route?: string | null;
  readonly url?: string;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly key?: Partial<KnownExchangeKey>;
}

/** `caller as it is counted`, or the status and detail of the refusal. */
async function recognised({ route = ORDERS, url = '/v1/x', query = {}, headers = {}, key }: Asked) {
  const known = { ...KEY, ...key };
  const keys = { find: async (apiKey: string) => (apiKey === 'k' ? known : null) };
  const merchants = {
    find: async (id: string) => (id === 'm' ? { merchantId: 'm', status: 'suspended' } : null),
  } as unknown as MerchantDirectory;
  const sent: { status?: number; detail?: string } = {};
  const reply = {
    headers: () => reply,
    header: () => reply,
    code: (status: number) => Object.assign(reply, Object.assign(sent, { status })),
    send: (body: string) => (sent.detail = (JSON.parse(body) as { detail: string }).detail),
  };
  const request = { edge: { route, client: '192.0.2.1' }, query, headers, raw: { url, headers } };
  const credentials = (await new ExchangeAuthentication(keys, merchants).recognise(
    request as unknown as FastifyRequest,
    reply as unknown as FastifyReply,
  )) as ExchangeCredentials | null;
  if (credentials === null) return [sent.status, sent.detail];
  expect(credentials).toMatchObject({ merchantId: 'm', callerId: 'k', status: 'suspended', caller: known });
  return credentials.countedAs;
}

const signed = { api_key: 'k', withdraw_address: ADDRESS, signature: ofAddress() };
const WRONG = [401, expect.stringContaining('The signature must be the lower-case hex HMAC-SHA256')];
const STRANGER = 'k/192.0.2.1';

describe('a request to the exchange API', () => {
  it.each<[string, Asked, unknown]>([
    ['signed over its address', { query: signed }, STRANGER],
    [
      'without an address, signed over the empty one',
      { query: { api_key: 'k', signature: ofAddress('') } },
      STRANGER,
    ],
    [
      'whose key demands no signature',
      { query: { api_key: 'k' }, key: { demandsSignature: false } },
      STRANGER,
    ],
    [
      'with a memo and a tag, of a key whose links are signed over the address alone',
      { query: { ...signed, withdraw_address_memo: 'x', withdraw_address_tag: 'y' } },
      STRANGER,
    ],
    ['of a key that is bound to addresses', { query: signed, key: { cidrs: ['192.0.2.0/24'] } }, 'k'],
    [
      'signed over its whole query',
      { query: { api_key: 'k', b: '1', signature_v2: ofQuery(ORDERS, 'api_key=k&b=1') } },
      'k',
    ],
    [
      'signed both ways',
      {
        query: {
          ...signed,
          signature_v2: ofQuery(ORDERS, `api_key=k&signature=${ofAddress()}&withdraw_address=address`),
        },
      },
      'k',
    ],
    [
      'for the configuration, signed in the header',
      {
        route: CONFIGURATION,
        query: { api_key: 'k', withdraw_address: ADDRESS },
        headers: { 'x-signature': ofAddress() },
      },
      STRANGER,
    ],
    ['for the list', { route: LIST, headers: { 'x-api-key': 'k', 'x-signature': ofAddress('') } }, 'k'],
    [
      'for an order, whose address only the handler knows',
      { route: `${ORDERS}/:id`, query: { api_key: 'k', signature: 'of the order' } },
      STRANGER,
    ],
    [
      'for an order of a key that demands no signature',
      { route: `${ORDERS}/:id`, query: { api_key: 'k' }, key: { demandsSignature: false } },
      STRANGER,
    ],
    ['for what is public to keys', { route: '/v1/tokens', query: { api_key: 'k' } }, STRANGER],
    ['for a path that does not exist', { route: null, query: { api_key: 'k' } }, STRANGER],
    [
      'with a body of a few bytes, which is ignored',
      { query: signed, headers: { 'content-length': '2' } },
      STRANGER,
    ],
  ])('is let in: %s', async (_what, asked, counted) => {
    expect(await recognised(asked)).toBe(counted);
  });

  it.each<[string, Asked, unknown]>([
    ['without a signature', { query: { api_key: 'k', withdraw_address: ADDRESS } }, WRONG],
    ['with that of another address', { query: { ...signed, withdraw_address: 'other' } }, WRONG],
    [
      'with a wrong signature that its key does not demand',
      { query: { ...signed, signature: 'x' }, key: { demandsSignature: false } },
      WRONG,
    ],
    ['with a wrong signature of its query', { query: { ...signed, signature_v2: 'x' } }, WRONG],
    [
      'with the query of the configuration signed for an order',
      {
        route: CONFIGURATION,
        query: { api_key: 'k', b: '1', signature_v2: ofQuery(ORDERS, 'api_key=k&b=1') },
      },
      WRONG,
    ],
    [
      'with a header signature where a parameter is asked for',
      { query: { api_key: 'k', withdraw_address: ADDRESS }, headers: { 'x-signature': ofAddress() } },
      WRONG,
    ],
    [
      'with one of two signatures wrong',
      { route: CONFIGURATION, query: signed, headers: { 'x-signature': 'x' } },
      WRONG,
    ],
    ['with a return_url that the address does not cover', { query: { ...signed, return_url: 'x' } }, WRONG],
    [
      'with a memo, of a key whose memos are signed',
      { query: { ...signed, withdraw_address_memo: 'x' }, key: { memoSigning: 'full' } },
      WRONG,
    ],
    [
      'with a tag, of a key whose memos are signed',
      {
        query: { ...signed, withdraw_address_tag: 'x' },
        key: { memoSigning: 'full', demandsSignature: false },
      },
      WRONG,
    ],
    ['for an order, unsigned', { route: `${ORDERS}/:id`, query: { api_key: 'k' } }, WRONG],
    ['for the list, unsigned', { route: LIST, headers: { 'x-api-key': 'k' } }, WRONG],
    [
      'for the list, with the signature of a link',
      {
        route: LIST,
        query: { withdraw_address: ADDRESS },
        headers: { 'x-api-key': 'k', 'x-signature': ofAddress() },
      },
      WRONG,
    ],
    [
      'for the list, with its key in the query',
      { route: LIST, query: { api_key: 'k' }, headers: { 'x-signature': ofAddress('') } },
      [401, 'A valid API key is required in the header X-Api-Key'],
    ],
    ['without a key', {}, [401, 'A valid API key is required in the query parameter api_key']],
    [
      'with an unknown key',
      { query: { ...signed, api_key: 'x' } },
      [401, 'A valid API key is required in the query parameter api_key'],
    ],
    [
      'with the key of a merchant who is gone',
      { query: signed, key: { merchantId: 'gone' } },
      [401, 'A valid API key is required in the query parameter api_key'],
    ],
    ['with a parameter twice', { query: { ...signed, memo: ['a', 'b'] } }, [400, 'memo must be given once']],
    [
      'with a large body',
      { query: signed, headers: { 'content-length': '16385' } },
      [413, 'The inputs are query parameters: there is no body'],
    ],
  ])('is refused: %s', async (_what, asked, refusal) => {
    expect(await recognised(asked)).toEqual(refusal);
  });

  it('is counted with those of its client while nothing shows that the owner sent it', async () => {
    const query = { api_key: 'k' };
    expect(await recognised({ query, key: { demandsSignature: false } })).toBe(STRANGER);
    const unneeded = { ...query, signature_v2: 'wrong' };
    expect(await recognised({ query: unneeded, route: '/v1/tokens' })).toBe(STRANGER);
    const listed = { route: null, url: LIST, headers: { 'x-api-key': 'k' } };
    expect(await recognised(listed)).toBe('k');
  });

  it('has all of its inputs in the query, under /v1, and nothing to verify in a body', () => {
    const authentication = new ExchangeAuthentication({ find: async () => null }, { find: async () => null });
    expect(authentication).toMatchObject({ prefix: '/v1', inputsInQuery: true });
    expect(authentication.verify()).toBe(true);
  });
});
