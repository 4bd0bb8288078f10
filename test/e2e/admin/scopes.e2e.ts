import { beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { SCOPES } from '../../../src/contexts/access/contract.js';
import { builtDocument } from '../../../src/platform/openapi/openapi.module.js';
import { AdminClient } from '../../support/admin/admin-client.js';
import { onTestApp } from '../../support/app.js';
import { ADDRESS } from '../../support/exchange/order-fixtures.js';
import type { ApiResponse } from '../../support/http/signed-client.js';

const PREFIX = '/admin/v1';

interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** After the prefix, as the document has it. */
  readonly path: string;
  readonly scopes: readonly string[];
}

async function routesOf(): Promise<readonly Route[]> {
  const { paths } = (await builtDocument('sandbox')) as {
    paths: Record<string, Record<string, { 'x-scopes'?: readonly string[] }>>;
  };
  return Object.entries(paths)
    .filter(([path]) => path.startsWith(`${PREFIX}/`))
    .flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) => ({
        method: method.toUpperCase() as Route['method'],
        path: path.slice(PREFIX.length),
        scopes: operation['x-scopes'] ?? [],
      })),
    );
}

const ROUTES = await routesOf();
const NAMED = ROUTES.map((route) => [`${route.method} ${route.path}`, route] as const);
/** What writes have in their bodies, of whatever kind. */
const BODY = {
  reason: 'a test of scopes',
  decision: 'approve',
  amount: '1',
  transaction_hash: `0x${'ab'.repeat(32)}`,
};

describe('the scopes of the admin API', () => {
  const app = onTestApp();
  const clients = new Map<string, AdminClient>();
  beforeAll(async () => {
    const first = await app.newAdmin({ scopes: [] });
    clients.set('none', first);
    for (const scope of SCOPES) clients.set(scope, await app.newAdmin({ scopes: [scope] }));
  });

  /** Without a body: a caller that is let in changes nothing. */
  const statusOf = async (client: AdminClient, { method, path }: Route): Promise<ApiResponse> =>
    // Its own check of the document would need a body that is right.
    new AdminClient(client.baseUrl, client.key, client.operatorId).call({
      method,
      path: path.replace(/\{[^}]+\}/g, randomUUID()),
    });

  it('are declared by each of its operations', () => {
    expect(ROUTES.length).toBeGreaterThan(40);
    const known: readonly string[] = SCOPES;
    for (const { scopes } of ROUTES) expect(scopes.filter((scope) => !known.includes(scope))).toEqual([]);
  });

  it.each(NAMED)('%s lets in a key with its scopes, and no other', async (_name, route) => {
    for (const [scope, client] of clients) {
      const response = await statusOf(client, route);
      const missing = route.scopes.find((each) => each !== scope);
      if (missing === undefined) expect([401, 403]).not.toContain(response.status);
      else {
        expect(response.status).toBe(403);
        expect(response.json()).toMatchObject({ detail: `The scope ${missing} is missing` });
      }
      // 503: no head is signed yet.
      expect(response.status === 503 || response.status < 500).toBe(true);
    }
  });

  describe('of a key that is confined to another merchant', () => {
    const ids = new Map<string, string>();
    let confined: AdminClient;
    let admin: AdminClient;
    beforeAll(async () => {
      const { merchant, secondMerchant } = app;
      const merchantId = merchant.credentials.apiKey;
      [admin, confined] = [
        await app.newAdmin(),
        await app.newAdmin({ merchants: [secondMerchant.credentials.apiKey] }),
      ];
      ids.set('merchants', merchantId);
      const keys = await admin.get(`/credentials?merchant_id=${merchantId}&kind=payouts`);
      ids.set('credentials', keys.json<{ credentials: { id: string }[] }>().credentials[0]!.id);
      const user = await merchant.post('/merchants/v1/users', { phone_number: '+15550001234' });
      ids.set('users', user.json<{ user: { id: string } }>().user.id);
      const order = await app.exchange.open.order({ pair_id: 'USDCSOL', withdraw_address: ADDRESS });
      ids.set('orders', order.json<{ order: { id: string } }>().order.id);
    });

    const single = NAMED.filter(([, { path }]) =>
      /^\/(merchants|credentials|users|orders)\/\{id\}/.test(path),
    );

    it.each(single)('%s finds nothing, and changes nothing', async (_name, { method, path }) => {
      const [, resource = ''] = path.split('/');
      const target = path.replace('{id}', ids.get(resource)!);
      const read = `/${resource}/${ids.get(resource)!}`;
      const before = await admin.get(read);
      expect(before.status).toBe(200);
      const write = method === 'GET' ? {} : { body: BODY, ifMatch: before.headers['etag']! };
      expect((await confined.call({ method, path: target, ...write })).status).toBe(404);
      expect((await admin.get(read)).headers['etag']).toBe(before.headers['etag']);
    });

    it.each(['credentials', 'users', 'payouts', 'orders', 'webhook_endpoints', 'deliveries'])(
      'the list of %s shows nothing',
      async (resource) => {
        const query = `?merchant_id=${ids.get('merchants')}`;
        const response = await confined.get(`/${resource}${query}`);
        // Some of them name the merchant as unknown.
        if (response.status !== 404)
          expect(response.json()).toMatchObject({ [resource]: [], next_cursor: null });
      },
    );
  });
});
