import { describe, expect, it } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { AdminCall } from '../../support/admin/admin-client.js';
import { sharedApp } from '../../support/app.js';
import { operationsOf } from '../../support/docs/reference.js';
import type { ExchangeCall } from '../../support/exchange/exchange-client.js';
import { ContractChecker } from '../../support/http/openapi.js';
import { send, type ApiResponse, type SignedCall } from '../../support/http/signed-client.js';

const ID = '0b5a3d7e-8c1f-4f9e-9d57-3f0f6f0e8a11';
/** More than a request line and headers may have together. */
const LONG = 'x'.repeat(17_000);
const ADMIN = '/admin/v1';

interface Malformed {
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const app = await sharedApp();
const admin = await app.newAdmin();
const document = (await (await fetch(`${app.url}/openapi.json`)).json()) as typeof document;
const contract = await ContractChecker.of(app.url);

describe('every documented operation', () => {
  /** As a caller with a key. */
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
  ])('refuses %s with %d, as it is documented', async (_, status, malformed) => {
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

  it('of the admin API alone has the server where that is', async () => {
    const { valid, errors } = await new Validator().validate(JSON.parse(JSON.stringify(document)) as never);
    expect([valid, errors ?? []]).toEqual([true, []]);
    for (const { path, servers } of operationsOf(document) as readonly { path: string; servers?: object }[])
      expect(servers).toEqual(path.startsWith(ADMIN) ? [{ url: 'http://localhost:0' }] : undefined);
    expect(document.servers).toEqual([{ url: '/' }]);
  });
});
