import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { once } from 'node:events';
import { request as openRequest, type IncomingMessage } from 'node:http';
import { createResources } from '../../support/access/resources.js';
import { sharedApp } from '../../support/app.js';
import { type ApiResponse, type SignedCall, send } from '../../support/http/signed-client.js';
import { createUser } from '../../support/payouts/payout-calls.js';
import type { AdminCall } from '../../support/admin/admin-client.js';
import { operationsOf, type Document } from '../../support/docs/reference.js';
import type { ExchangeCall } from '../../support/exchange/exchange-client.js';
import { ContractChecker } from '../../support/http/openapi.js';
import { createPortalSession } from '../../support/http/portal-browser.js';

const V1 = '/merchants/v1';

type Method = NonNullable<SignedCall['method']>;
interface Operation {
  readonly method: Method;
  readonly path: string;
  readonly hasBody: boolean;
  readonly isKeyed: boolean;
}
interface Documented {
  readonly requestBody?: object;
  readonly parameters?: readonly { readonly name?: string; readonly $ref?: string }[];
}

/** Bodies that pass validation up to the ownership check. */
const BODIES: Readonly<Record<string, () => object>> = {
  [`PATCH ${V1}/webhook_endpoints/{id}`]: () => ({ webhook_endpoint: { status: 'disabled' } }),
  [`POST ${V1}/webhook_endpoints/{id}/recover`]: () => ({ since: new Date(Date.now() - 1000) }),
};
const KEYED: Readonly<Record<string, () => object | undefined>> = {
  [`POST ${V1}/users`]: () => ({ phone_number: '+15550009876' }),
  [`POST ${V1}/webhook_endpoints`]: () => ({ webhook_endpoint: { url: 'https://8.8.8.8/hooks' } }),
  [`POST ${V1}/webhook_endpoints/{id}/test_delivery`]: () => undefined,
  [`POST ${V1}/webhook_endpoints/{id}/rotate_secret`]: () => undefined,
  [`POST ${V1}/webhook_deliveries/{id}/resend`]: () => undefined,
  [`POST ${V1}/sandbox/users/{id}/complete_onboarding`]: () => undefined,
  [`DELETE ${V1}/webhook_endpoints/{id}`]: () => undefined,
};

const app = await sharedApp();
const { merchant } = app;
const document = (await (await fetch(`${app.url}/openapi.json`)).json()) as Document & {
  readonly servers: object;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Documented>>>>;
};
const operations = Object.entries(document.paths)
  .filter(([path]) => path.startsWith(V1))
  .flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { requestBody, parameters = [] }]) => ({
      method: method.toUpperCase() as Method,
      path,
      hasBody: requestBody !== undefined,
      isKeyed: parameters.some(
        ({ name, $ref }) => name === 'Idempotency-Key' || $ref?.endsWith('IdempotencyKey'),
      ),
    })),
  );
const ids = await createResources(app);

describe('every operation of the merchant API', () => {
  const nameOf = ({ method, path }: Operation): string => `${method} ${path}`;
  const pathOf = ({ path }: Operation, id: string): string => path.replace('{id}', id);
  const ownId = ({ path }: Operation): string =>
    ids.get(/(\w+)\/\{id\}/.exec(path)?.[1] ?? '') ?? randomUUID();
  const statuses = async (
    of: readonly Operation[],
    call: (operation: Operation) => Promise<ApiResponse>,
  ): Promise<Record<string, number>> => {
    expect(of.length).toBeGreaterThan(4);
    const results = await Promise.all(of.map(async (each) => [nameOf(each), (await call(each)).status]));
    return Object.fromEntries(results) as Record<string, number>;
  };
  const all = (of: readonly Operation[], status: number): Record<string, number> =>
    Object.fromEntries(of.map((each) => [nameOf(each), status]));

  it('responds with 401 to a wrong signature', async () => {
    const found = await statuses(operations, (each) =>
      merchant.call({
        method: each.method,
        path: pathOf(each, ownId(each)),
        headers: { 'svc-signature': '0'.repeat(64) },
        ...(each.hasBody ? { body: {} } : {}),
      }),
    );
    expect(found).toEqual(all(operations, 401));
  });

  it.each([
    ['that another merchant has', (each: Operation) => ownId(each), () => app.secondMerchant],
    ['that does not exist', () => randomUUID(), () => merchant],
    ['that is no uuid', () => 'nonsense', () => merchant],
  ])('responds with 404 for a resource %s', async (_, id, client) => {
    const ofResources = operations.filter(({ path }) => path.includes('{id}'));
    const found = await statuses(ofResources, (each) =>
      client().call({ method: each.method, path: pathOf(each, id(each)), body: BODIES[nameOf(each)]?.() }),
    );
    expect(found).toEqual(all(ofResources, 404));
  });

  it('responds with 400 to an Idempotency-Key that is no quoted uuid', async () => {
    const keyed = operations.filter(({ isKeyed }) => isKeyed);
    const found = await statuses(keyed, (each) =>
      merchant.call({
        method: each.method,
        path: pathOf(each, ownId(each)),
        headers: { 'idempotency-key': randomUUID() },
        ...(each.hasBody ? { body: {} } : {}),
      }),
    );
    expect(found).toEqual(all(keyed, 400));
  });

  it.each(Object.keys(KEYED))('%s is replayed under its key, byte for byte', async (name) => {
    const operation = operations.find((each) => nameOf(each) === name)!;
    const path = pathOf(
      operation,
      name.includes('complete_onboarding') ? await createUser(merchant) : ownId(operation),
    );
    const call = { method: operation.method, path, body: KEYED[name]!(), idempotencyKey: randomUUID() };
    const [first, again] = [await merchant.call(call), await merchant.call(call)];
    expect(first.status).toBeLessThan(300);
    expect([again.status, again.text]).toEqual([first.status, first.text]);
    expect([first, again].map(({ headers }) => headers['idempotent-replayed'])).toEqual([undefined, 'true']);
  });
});

const ID = '0b5a3d7e-8c1f-4f9e-9d57-3f0f6f0e8a11';
/** Exceeds the limit of a request line and of headers. */
const LONG = 'x'.repeat(17_000);
const ADMIN = '/admin/v1';

interface Malformed {
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const admin = await app.newAdmin();
const contract = await ContractChecker.of(app.url);

describe('every documented operation', () => {
  function request(
    method: string,
    path: string,
    { query, headers = {}, body }: Malformed,
  ): Promise<ApiResponse> {
    const target = query === undefined ? path : `${path}?${query}`;
    const sent = { headers, ...(body === undefined ? {} : { body }) };
    if (path.startsWith('/merchants/'))
      return app.merchant.call({ method, path: target, ...sent } as SignedCall);
    if (path.startsWith(ADMIN))
      return admin.call({ method, path: target.slice(ADMIN.length), ...sent } as AdminCall);
    if (!path.startsWith('/v1/') || query !== undefined)
      return send(`${app.url}${target}`, { method, ...sent });
    const signs = path === '/v1/merchant/orders' ? undefined : null;
    return app.exchange.open.call({ method, path, signs, ...sent } as ExchangeCall);
  }

  const json = { 'content-type': 'application/json' };

  it.each<[string, number, Malformed]>([
    ['a URL that is too long', 431, { query: `a=${LONG}` }],
    ['headers that are too large', 431, { headers: { 'x-a': LONG } }],
    ['a query that is no UTF-8', 400, { query: 'a=%ff' }],
    ['a body that is no JSON', 400, { body: '{', headers: json }],
    ['a body of another type', 415, { body: '{}', headers: { 'content-type': 'text/plain' } }],
    ['a body that is too large', 413, { body: ' '.repeat(1_048_576), headers: json }],
  ])('refuses %s with %d as documented', async (_, status, malformed) => {
    // A read of the admin API ignores bodies.
    const all = operationsOf(document).filter(
      ({ method, path }) => malformed.body === undefined || method !== 'GET' || !path.startsWith(ADMIN),
    );
    expect(all.length).toBeGreaterThan(60);
    const others: string[] = [];
    for (const { method, path } of all) {
      const response = await request(method, path.replaceAll(/\{\w+\}/g, ID), malformed);
      contract.expect(method, path, response);
      if (response.status !== status) others.push(`${method} ${path} ${response.status}`);
    }
    expect(others).toEqual([]);
  });

  it('names a server in the OpenAPI document only if it belongs to the admin API', async () => {
    const { valid, errors } = await new Validator().validate(JSON.parse(JSON.stringify(document)) as never);
    expect([valid, errors ?? []]).toEqual([true, []]);
    for (const { path, servers } of operationsOf(document) as readonly { path: string; servers?: object }[])
      expect(servers).toEqual(path.startsWith(ADMIN) ? [{ url: 'http://localhost:0' }] : undefined);
    expect(document.servers).toEqual([{ url: '/' }]);
  });
});

const MIB = 1_048_576;
const PIECE = Buffer.alloc(16_384, ' ');

interface Sent {
  readonly bytes: number;
  readonly isChunked: boolean;
  /** Waits for `100 Continue` or the response before the body. */
  readonly waits?: true;
}

/** Sends a POST in pieces. Returns the status, and whether the service let it continue. */
async function post(url: string, headers: Record<string, string>, { bytes, isChunked, waits }: Sent) {
  const length: Record<string, string> = isChunked ? {} : { 'content-length': String(bytes) };
  const expectation: Record<string, string> = waits ? { expect: '100-continue' } : {};
  const all = { 'content-type': 'application/json', ...headers, ...length, ...expectation };
  const request = openRequest(url, { method: 'POST', headers: all });
  const response = once(request, 'response') as Promise<[IncomingMessage]>;
  let continues = false;
  const goesOn = once(request, 'continue').then(() => (continues = true));
  goesOn.catch(() => undefined);
  if (waits) {
    request.flushHeaders();
    await Promise.race([goesOn, response]);
  }
  let isOver = waits === true && !continues;
  response.then(() => (isOver = true)).catch(() => undefined);
  for (let sent = 0; sent < bytes && !isOver; sent += PIECE.length) {
    const part = PIECE.subarray(0, Math.min(PIECE.length, bytes - sent));
    if (!request.write(part)) await Promise.race([once(request, 'drain'), response]);
  }
  const [{ statusCode }] = await response;
  request.destroy();
  return [statusCode, continues];
}

const portal = new URL((await createPortalSession(app.merchant)).url).origin;

describe('a body that the admin API and the portal refuse', () => {
  it.each([
    [{ bytes: 16_384, isChunked: false }, false],
    [{ bytes: 16_384, isChunked: true }, false],
    [{ bytes: MIB, isChunked: false }, false],
    [{ bytes: 24 * MIB, isChunked: true }, false],
    [{ bytes: MIB, isChunked: false, waits: true }, false],
    [{ bytes: MIB, isChunked: true, waits: true }, true],
  ] as const)('gets 413 before the connection ends if it is %j', async (sent, continues) => {
    const authorization = `Bearer ${admin.key}`;
    const expected = [413, continues];
    expect(await post(`${portal}/session`, { origin: portal }, sent)).toEqual(expected);
    expect(await post(`${admin.baseUrl}/admin/v1/merchants`, { authorization }, sent)).toEqual(expected);
  });

  it('gets 415 if it has a Content-Encoding', async () => {
    const [sent, encoded] = [{ bytes: 100, isChunked: false }, { 'content-encoding': 'gzip' }];
    const authorization = `Bearer ${admin.key}`;
    expect(await post(`${portal}/session`, { origin: portal, ...encoded }, sent)).toEqual([415, false]);
    const merchants = `${admin.baseUrl}/admin/v1/merchants`;
    expect(await post(merchants, { authorization, ...encoded }, sent)).toEqual([415, false]);
  });

  it('gets 401 and is not read if the caller has no credentials', async () => {
    const sent = { bytes: MIB, isChunked: true, waits: true } as const;
    expect(await post(`${admin.baseUrl}/admin/v1/merchants`, {}, sent)).toEqual([401, false]);
  });
});
