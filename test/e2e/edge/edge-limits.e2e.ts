import { randomBytes, randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { readConfig } from '../../../src/composition.js';
import { addressLimit, RateLimits } from '../../../src/platform/http/rate-limit.guard.js';
import { KeyedHash } from '../../../src/platform/sealing/keyed-hash.js';
import { startEdgeApp, onEdgeApp } from '../../support/http/edge-app.js';
import { onTestDatabase, testDatabase } from '../../support/postgres.js';
import { send } from '../../support/http/signed-client.js';

const HASH = new KeyedHash(randomBytes(32));

const db = onTestDatabase();

const PATH = '/merchants/v1/probe/whoami';

test('the limit of a merchant is exact over two processes, reported in headers, and does not affect other merchants', async () => {
  const env = { RATE_LIMIT_PER_MINUTE: '100' };
  const one = await startEdgeApp(db.database, env);
  const two = await startEdgeApp(db.database, env);
  const client = one.client();
  const second = two.client(one.merchants.get(client.credentials.apiKey));

  const first = await client.get(PATH);
  expect(first.headers['ratelimit-policy']).toBe('"merchant";q=100;w=60');
  expect(first.headers['ratelimit']).toMatch(/^"merchant";r=99;t=[1-6]?\d$/);

  const rest = await Promise.all(Array.from({ length: 149 }, (_, i) => (i % 2 ? client : second).get(PATH)));
  const passed = rest.filter(({ status }) => status === 200).length;
  expect(passed).toBe(99);
  const refused = rest.filter(({ status }) => status !== 200);
  for (const response of refused) {
    expect(response.status).toBe(429);
    expect(response.json()).toMatchObject({
      title: 'Too many requests',
      detail: 'Rate limit exceeded',
      errors: {},
    });
    expect(Number(response.headers['retry-after'])).toBeGreaterThan(0);
    expect(response.headers['ratelimit']).toMatch(/^"merchant";r=0;t=\d+$/);
  }

  expect((await one.client().get(PATH)).status).toBe(200);
  expect((await client.get(PATH, { 'svc-signature': '0'.repeat(64) })).status).toBe(401);
  await Promise.all([one.close(), two.close()]);
});

test('the limit per address applies before authentication', async () => {
  const edge = await startEdgeApp(db.database, { RATE_LIMIT_PER_IP_PER_MINUTE: '5' });
  for (let i = 0; i < 5; i++) expect((await send(`${edge.url}${PATH}`)).status).toBe(401);
  const response = await edge.client().get(PATH);
  expect(response.status).toBe(429);
  expect(response.json()).toMatchObject({ title: 'Too many requests', detail: 'Rate limit exceeded' });
  expect(Number(response.headers['retry-after'])).toBeGreaterThan(0);
  await edge.close();
});

test.each([
  [{}, 6000],
  [{ RATE_LIMIT_PER_MINUTE: '5' }, 6000],
  [{ RATE_LIMIT_PER_MINUTE: '100000' }, 6_000_000],
  [{ RATE_LIMIT_PER_MINUTE: '100000', RATE_LIMIT_PER_IP_PER_MINUTE: '7' }, 7],
])('the request limit per address is derived from the merchant limit unless it is set: %j', (env, limit) => {
  expect(addressLimit(readConfig(env))).toBe(limit);
});

test.each([1, 7, 100, 101, 150, 1000])(
  'a request limit of %d is exact for concurrent requests to two processes',
  async (limit) => {
    const limiters = [0, 1].map(() => new RateLimits(db.pool, HASH));
    const merchant = randomUUID();
    const takes = Array.from({ length: limit * 2 + 50 }, async (_, i) =>
      limiters[i % 2]!.take({ counts: 'merchant', name: merchant, limit }),
    );
    const allowed = (await Promise.all(takes)).filter((quota) => quota.allowed).length;
    expect(allowed).toBe(limit);
  },
);

test('a high request limit needs few queries, because requests are reserved in batches', async () => {
  let queries = 0;
  const pool = Object.create(db.pool, {
    query: {
      value: (...args: Parameters<typeof db.pool.query>) => {
        queries += 1;
        return db.pool.query(...args);
      },
    },
  }) as typeof db.pool;
  const limiter = new RateLimits(pool, HASH);
  const merchant = { counts: 'merchant', name: randomUUID(), limit: 10_000 } as const;
  for (let i = 0; i < 1000; i++) expect((await limiter.take(merchant)).allowed).toBe(true);
  expect(queries).toBe(10);
});

test('a new window starts with the full request limit', async () => {
  let now = Date.now();
  const limiter = new RateLimits(db.pool, HASH, () => now);
  const merchant = { counts: 'merchant', name: randomUUID(), limit: 2 } as const;
  const take = async () => (await limiter.take(merchant)).allowed;
  expect([await take(), await take(), await take()]).toEqual([true, true, false]);
  await db.pool.query('update platform.rate_limits set expire = 0');
  now += 60_001;
  expect([await take(), await take(), await take()]).toEqual([true, true, false]);
});

test('a process without its store counts alone and still refuses', async () => {
  const gone = await testDatabase();
  const limiter = new RateLimits(gone.pool, HASH);
  await gone.drop();
  const merchant = { counts: 'merchant', name: randomUUID(), limit: 3 } as const;
  const allowed = [];
  for (let i = 0; i < 5; i++) allowed.push((await limiter.take(merchant)).allowed);
  expect(allowed).toEqual([true, true, true, false, false]);
});

test('the table of request counts contains neither addresses nor keys in clear', async () => {
  const limiter = new RateLimits(db.pool, HASH);
  const keyId = randomUUID();
  await limiter.take({ counts: 'key', name: `${keyId}/203.0.113.77`, limit: 5 });
  const rows = await db.pool.query<{ key: string }>('select key from platform.rate_limits');
  const text = JSON.stringify(rows.rows);
  expect(rows.rows.length).toBeGreaterThan(0);
  for (const secret of [keyId, '203.0.113.77']) expect(text).not.toContain(secret);
});

const edge = onEdgeApp({ RATE_LIMIT_PER_MINUTE: '5000' });
const COMMIT = '/merchants/v1/probe/commit';

test('100 repeats of an Idempotency-Key at two processes write one event and get 201 or 409', async () => {
  const other = await startEdgeApp(edge.db.database, { RATE_LIMIT_PER_MINUTE: '5000' });
  const client = edge.client();
  const credentials = edge.merchants.get(client.credentials.apiKey)!;
  const second = other.client({ ...credentials });
  const key = randomUUID();
  const calls = Array.from({ length: 100 }, (_, i) => (i % 2 ? client : second).post(COMMIT, { a: 1 }, key));
  const responses = await Promise.all(calls);
  const created = responses.filter(({ status }) => status === 201);
  expect(responses.every(({ status }) => status === 201 || status === 409)).toBe(true);
  expect(created.length).toBeGreaterThan(0);
  expect(new Set(created.map(({ text }) => text)).size).toBe(1);
  const id = created[0]!.json().thing.id;
  const [events] = await edge.db.database.query(
    'select count(*)::int as n from event_store.events where stream = $1',
    [`probe-${id}`],
  );
  expect(events).toEqual({ n: 1 });
  await other.close();
});

test('a signed request is accepted, and every response has a Request-Id', async () => {
  const client = edge.client();
  const response = await client.get(`${PATH}?size=7`);
  expect(response.status).toBe(200);
  expect(response.json()).toEqual({ merchant_id: client.credentials.apiKey, size: 7 });
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(response.headers['request-id']).toMatch(/^[0-9a-f-]{36}$/);
});

test('the path is signed as it is sent, percent-encoded and without the query string', async () => {
  const client = edge.client();
  const id = '7C0C3F2E-6F0A-4A39-9F55-3B6B3F8A1B11';
  expect((await client.get(`/merchants/v1/probe/%74hings/${id}?x=1`)).json()).toEqual({
    id: id.toLowerCase(),
  });
});

test('a percent-encoded spelling of a path of the signed API needs a signature too', async () => {
  expect((await send(`${edge.url}/%6Derchants/v1/probe/whoami`)).status).toBe(401);
});

test('the signature of a GET covers the body if there is a body', async () => {
  const client = edge.client();
  expect((await client.call({ path: PATH, body: '{}' })).status).toBe(200);
  expect((await client.call({ path: PATH, body: 'not json' })).status).toBe(400);
});

test('a malformed body gets 401 without a valid signature and 400 with a valid signature', async () => {
  const client = edge.client();
  const call = { method: 'POST', path: '/merchants/v1/probe/plain', body: '{"a":' } as const;
  expect((await client.call({ ...call, headers: { 'svc-signature': '0'.repeat(64) } })).status).toBe(401);
  expect((await send(`${edge.url}${call.path}`, { method: 'POST', body: call.body })).status).toBe(401);
  expect((await client.call(call)).status).toBe(400);
});

test('a suspended merchant gets 403, and no other caller learns of the suspension', async () => {
  const client = edge.client({ status: 'suspended' });
  const response = await client.get(PATH);
  expect(response.status).toBe(403);
  expect(response.json()).toMatchObject({ title: 'Access forbidden', status: 403, errors: {} });
  expect((await client.get(PATH, { 'svc-signature': '0'.repeat(64) })).status).toBe(401);
});

test('an address outside of the IP allow list gets 403', async () => {
  expect((await edge.client({ ipAllowList: ['10.0.0.0/8', '2001:db8::/32'] }).get(PATH)).status).toBe(403);
  expect((await edge.client({ ipAllowList: ['10.0.0.0/8', '127.0.0.0/8'] }).get(PATH)).status).toBe(200);
});
