import { afterEach, describe, expect, it } from '@jest/globals';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { LocalServer } from '../../../test/support/http/local-server.js';
import { JsonRpcNode } from './json-rpc-node.js';
import { isAlike, isRateLimit, isRateLimitStatus, saysRateLimit } from './rate-limits.js';

/** The errors of the documents and reports in docs/providers.md. */
const LIMITS: readonly (readonly [provider: string, code: number, message: string, data?: unknown])[] = [
  ['Alchemy', 429, 'Your app has exceeded its compute units per second capacity.'],
  ['Alchemy', -32600, 'Monthly capacity limit exceeded. Visit the dashboard to upgrade your scaling policy.'],
  ['Alchemy', -32001, 'Unable to complete request at this time'],
  ['Infura', -32005, 'daily request count exceeded, request rate limited', { rate: { backoff_seconds: 30 } }],
  ['Infura', 402, 'Payment Required'],
  ['QuickNode', -32007, '50/second request limit reached - reduce calls per second or upgrade your account'],
  ['QuickNode', -32012, 'credits limited to 6000/sec'],
  ['QuickNode', 429, 'The requests per second (RPS) of your requests are higher than your plan allows.'],
  ['QuickNode', -32003, 'daily request limit reached - upgrade your account'],
  ['Arc', -32011, 'request limit reached'],
  ['Base', -32016, 'over rate limit'],
  ['op-node', -32000, '429 Too Many Requests: {"error":{"code":-32016,"message":"over rate limit"}}'],
  ['Ankr', -32090, 'Too many requests, reason: call rate limit exhausted, retry in 10s'],
  ['dRPC', 15, 'Too many request, try again later'],
  ['dRPC', -32000, 'You reached the free tier limit'],
  ['Chainstack', -32005, 'Rate limit exceeded', { try_again_in: '345.2ms' }],
  ['1RPC', -32001, 'Exceeded the quota usage'],
  ['1RPC', -32001, "You've reached the usage limit for your current plan."],
  ['TheRPC', -32029, 'Rate limit exceeded'],
  ['BlockVision', -32605, 'Too many requests'],
  ['BlockVision', -32607, 'The call limit has been reached, please upgrade your subscription'],
  ['Godwoken', -32000, 'Rate limit exceeded for your ip, please wait 1min and retry. RPC method: eth_call.'],
  ['zkSync', -32000, 'node is under too much load'],
  ['Avalanche', -32000, 'maximum number of concurrent requests'],
  ['Helius', -32429, 'max usage reached'],
  ['NodeReal', -32000, 'You have reached the maximum API usage limit of public.'],
  ['Conflux', -32072, 'throttled in 3s'],
  ['any', -32000, 'rate_limit_exceeded'],
  ['any', -32000, 'TooManyRequests'],
  ['any', -32000, 'the server is too busy'],
];

/** Errors of the call or of the size of the batch: a smaller batch, or another call, succeeds. */
const OTHERS: readonly (readonly [node: string, code: number, message: string])[] = [
  ['Erigon', -32000, 'batch limit 100 exceeded (can increase by --rpc.batch.limit).'],
  ['Geth', -32600, 'batch too large'],
  ['Geth', -32003, 'response too large'],
  ['Geth', -32000, 'transaction indexing is in progress'],
  ['Infura', -32005, 'query returned more than 10000 results'],
  ['QuickNode', -32602, 'eth_getLogs is limited to a 10,000 range'],
  ['Alchemy', -32602, 'Log response size exceeded. this block range should work: [0x1, 0x2]'],
  ['Filecoin', -32005, 'block range exceeds the maximum'],
  ['1RPC', -32000, 'response size should not greater than 2097152 bytes'],
  ['Polygon', -32601, 'the method eth_syncing does not exist/is not available'],
  ['Geth', -32000, 'header not found'],
  ['dRPC', 35, 'method is not available on freetier, please upgrade to paid tier'],
];

describe('an error of a node provider', () => {
  it.each(LIMITS.map(([provider, code, message, data]) => [provider, { code, message, data }] as const))(
    'of %s, %j, counts as a rate limit',
    (_provider, error) => expect(isRateLimit(error)).toBe(true),
  );

  it.each(OTHERS)('of %s, %i "%s", is no rate limit and concerns the call', (_node, code, message) => {
    const error = { code, message };
    expect([isRateLimit(error), isAlike([error, error])]).toEqual([false, false]);
  });

  it('concerns the node and not a call if each of several calls fails with the same unknown error', () => {
    const busy = { code: -32099, message: 'rabbit hole is full' };
    expect([isAlike([busy, busy]), isAlike([busy])]).toEqual([true, false]);
    expect(isAlike([busy, { ...busy, code: -32098 }])).toBe(false);
  });

  it.each([402, 429, 503, 529])('counts as a rate limit with the status %i', (status) =>
    expect(isRateLimitStatus(status)).toBe(true),
  );

  it.each([
    ['<html><title>Error 1015</title>You are being rate limited</html>', true],
    ['{"message":"API rate limit exceeded"}', true],
    ['<title>Access denied</title>The owner of this website has banned your IP address (192.0.2.1)', true],
    ['Your IP address or website has been blocked.', true],
    ['{"Error":"request rate exceeded the allowed_rps(10), the query server is suspended"}', true],
    ['<html><title>502 Bad Gateway</title></html>', false],
  ])('with the text %s counts as a rate limit: %s', (body, says) => expect(saysRateLimit(body)).toBe(says));
});

interface Call {
  readonly id: number;
  readonly params: readonly unknown[];
}
type Respond = (calls: readonly Call[]) => { readonly status?: number; readonly body: unknown };

/** A node with configured responses, which records the sizes of the batches. */
class Provider extends LocalServer {
  readonly batches: number[] = [];
  respondWith: Respond = () => ({ body: '' });

  protected override async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const calls = [JSON.parse(await text(request)) as Call | Call[]].flat();
    this.batches.push(calls.length);
    const { status = 200, body } = this.respondWith(calls);
    response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
  }
}

const eachWith =
  (error: object): Respond =>
  (calls) => ({ body: calls.map(({ id }) => ({ jsonrpc: '2.0', id, error })) });
const result = ({ id }: Call): object => ({ jsonrpc: '2.0', id, result: null });

describe('a batch of 100 calls', () => {
  const calls = Array.from({ length: 100 }, (_, n) => ({ method: 'eth_getTransactionReceipt', params: [n] }));
  let provider: Provider;
  let node: JsonRpcNode;
  const ask = async (respond: Respond): Promise<readonly string[]> => {
    provider = new Provider();
    await provider.restart();
    node = new JsonRpcNode(provider.url);
    provider.respondWith = respond;
    const responses = await node.ask(calls);
    return responses.map((each) => ('refused' in each ? each.refused.kind : 'result'));
  };
  afterEach(async () => {
    await node.close();
    await provider.shutDown();
  });

  it.each<[string, number, Respond]>([
    ['whose calls are all over the rate limit', 1, eachWith({ code: -32016, message: 'over rate limit' })],
    [
      'whose calls all fail with one unknown error',
      1,
      eachWith({ code: -32099, message: 'rabbit hole is full' }),
    ],
    [
      'whose response is a single error',
      1,
      () => ({ body: { id: null, error: { code: -32029, message: 'limit' } } }),
    ],
    ['whose response is an error as a text', 1, () => ({ body: { error: 'rate limit exceeded' } })],
    ['whose response has status 429', 1, () => ({ status: 429, body: '' })],
    ['whose response has status 400 and a text', 1, () => ({ status: 400, body: 'Too Many Requests' })],
    [
      'whose response has status 403 and an error',
      1,
      () => ({ status: 403, body: { error: { code: -32600, message: 'Monthly capacity limit exceeded' } } }),
    ],
    ['whose response is an HTML page', 1, () => ({ body: '<html>You are being rate limited</html>' })],
    ['whose response has status 500, also for one call', 2, () => ({ status: 500, body: '' })],
    [
      'whose response is another page, also for one call',
      2,
      () => ({ body: '<html>Checking your browser</html>' }),
    ],
  ])(
    '%s counts as limited after %i requests, and the node gets no request during the backoff',
    async (_name, requests, respond) => {
      expect(new Set(await ask(respond))).toEqual(new Set(['limited']));
      await node.ask(calls);
      await node.ask([calls[0]!]);
      expect(provider.batches).toHaveLength(requests);
    },
  );

  it('is sent again after the backoff', async () => {
    let limited = true;
    const respond: Respond = (some) =>
      limited ? eachWith({ code: -32016, message: 'over rate limit' })(some) : { body: some.map(result) };
    await ask(respond);
    limited = false;
    for (let kind = 'limited'; kind === 'limited';) {
      const [first] = await node.ask(calls);
      kind = 'refused' in first! ? first.refused.kind : 'result';
      if (kind === 'limited') await new Promise((resolve) => setTimeout(resolve, 50));
      else expect(kind).toBe('result');
    }
    expect(provider.batches).toEqual([100, 100]);
  });

  it('is repeated later only for the rejected calls if the node accepts the others', async () => {
    const respond: Respond = (some) => ({
      body: some.map((call, n) =>
        n < 50 ? result(call) : { id: call.id, error: { code: 429, message: 'requests per second' } },
      ),
    });
    expect(new Set(await ask(respond))).toEqual(new Set(['result']));
    expect(provider.batches).toEqual([100, 50]);
  });

  it('is split to find the single call that makes the whole batch fail', async () => {
    const respond: Respond = (some) =>
      some.some(({ params }) => params[0] === 7) ? { status: 500, body: '' } : { body: some.map(result) };
    let kinds: readonly string[] = [];
    // The probe is a random call, and once in a hundred times the failing one.
    for (let retry = 0; retry < 5 && !kinds.includes('result'); retry += 1) {
      if (retry > 0) await Promise.all([node.close(), provider.shutDown()]);
      kinds = await ask(respond);
    }
    expect(kinds.flatMap((kind, n) => (kind === 'result' ? [] : [n]))).toEqual([7]);
  });

  it('is split into single calls if the errors concern the calls', async () => {
    const kinds = await ask(eachWith({ code: -32008, message: 'response too large' }));
    expect(new Set(kinds)).toEqual(new Set(['error']));
    expect(provider.batches.at(-1)).toBe(1);
  });
});
