import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { builtDocument } from '../../../src/platform/http/docs.controller.js';
import { createResources } from '../../support/access/resources.js';
import { sharedApp } from '../../support/app.js';

const PREFIX = '/admin/v1';

interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** The document's path after the prefix. */
  readonly path: string;
}

async function routesOf(): Promise<readonly Route[]> {
  const { paths } = (await builtDocument('sandbox')) as {
    paths: Record<string, Record<string, object>>;
  };
  return Object.entries(paths)
    .filter(([path]) => path.startsWith(`${PREFIX}/`))
    .flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => ({
        method: method.toUpperCase() as Route['method'],
        path: path.slice(PREFIX.length),
      })),
    );
}

const NAMED = (await routesOf()).map((route) => [`${route.method} ${route.path}`, route] as const);
/** The union of the bodies of writes. */
const BODY = {
  reason: 'a test of scopes',
  decision: 'approve',
  amount: '1',
  transaction_hash: `0x${'ab'.repeat(32)}`,
};

const app = await sharedApp();
const ids = await createResources(app);
const admin = await app.newAdmin();
const confined = await app.newAdmin({ merchants: [app.secondMerchant.credentials.apiKey] });

describe('the admin API by a key that is confined to another merchant', () => {
  const single = NAMED.filter(([, { path }]) =>
    /^\/(merchants|credentials|users|orders|payouts|deliveries)\/\{id\}/.test(path),
  );

  it('covers each of these resources and their parts', () => {
    const names = single.map(([name]) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        ...['proof', 'evidence', 'checks'].map((part) => `GET /payouts/{id}/${part}`),
        'POST /deliveries/{id}/resend',
        'POST /orders/{id}/refunds',
      ]),
    );
  });

  it.each(single)('%s finds nothing, and changes nothing', async (_name, { method, path }) => {
    const [, resource = ''] = path.split('/');
    const target = path.replace('{id}', ids.get(resource)!);
    const read = `/${resource}/${ids.get(resource)!}`;
    const before = await admin.get(read);
    expect(before.status).toBe(200);
    const { etag = '"0"' } = before.headers;
    const write = method === 'GET' ? {} : { body: BODY, ifMatch: etag };
    expect((await confined.call({ method, path: target, ...write })).status).toBe(404);
    const after = await admin.get(read);
    expect(after.headers['etag']).toBe(before.headers['etag']);
    // A delivery has no revision; its attempts show whether it was sent again.
    if (resource === 'deliveries') expect(after.text).toBe(before.text);
  });

  it.each(single)('%s is 404 for an unknown id and for no UUID', async (_, { method, path }) => {
    const write = method === 'GET' ? {} : { body: BODY, ifMatch: '"0"' };
    for (const id of [randomUUID(), 'no-uuid'])
      expect((await admin.call({ method, path: path.replace('{id}', id), ...write })).status).toBe(404);
  });

  it('no replay returns the response of another key of the same person', async () => {
    const narrow = await app.newAdmin({
      operatorId: admin.operatorId,
      merchants: [app.secondMerchant.credentials.apiKey],
    });
    const write = {
      method: 'POST' as const,
      path: `/deliveries/${ids.get('deliveries')}/resend`,
      body: { reason: 'sent again' },
      idempotencyKey: randomUUID(),
    };
    const first = await admin.call(write);
    expect(first.status).toBe(200);
    expect((await narrow.call(write)).status).toBe(404);
    expect((await admin.call(write)).text).toBe(first.text);
  });

  it('the lists show nothing of the merchant', async () => {
    for (const each of ['credentials', 'users', 'payouts', 'orders', 'webhook_endpoints', 'deliveries']) {
      const response = await confined.get(`/${each}?merchant_id=${ids.get('merchants')}`);
      // Some lists name the merchant as unknown.
      if (response.status !== 404) expect(response.json()).toMatchObject({ [each]: [], next_cursor: null });
    }
  });
});
