import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startTestApp, type TestApp } from '../../support/app.js';
import { DisconnectableProxy } from '../../support/database/disconnectable-proxy.js';
import { batchOf, eventItem } from '../../support/tracking/event-batches.js';
import { testDatabase, type TestDatabase } from '../../support/postgres.js';
import type { ApiResponse, SignedClient } from '../../support/http/signed-client.js';

const PATH = '/merchants/v1/events';
const LIMIT = 40;

let db: TestDatabase;
let proxy: DisconnectableProxy;
let app: TestApp;
let client: SignedClient;

beforeAll(async () => {
  db = await testDatabase();
  proxy = new DisconnectableProxy(new URL(db.url));
  app = await startTestApp({
    ROLES: 'api,worker',
    DATABASE_URL: await proxy.open(),
    RATE_LIMIT_PER_MINUTE: String(LIMIT),
  });
});

afterAll(async () => {
  await app.close();
  await proxy.close();
  await db.drop();
});

beforeEach(async () => {
  client = await app.newMerchant();
});

async function storedBatches(of = client): Promise<number> {
  const [row] = await db.database.query<{ n: number }>(
    'select count(*)::int as n from tracking.batches where merchant_id = $1',
    [of.credentials.apiKey],
  );
  return row!.n;
}

test('503 while the database is unavailable, nothing is stored, and later the same request is accepted', async () => {
  const [key, body] = [randomUUID(), batchOf([eventItem()])];
  expect((await client.post(PATH, batchOf([eventItem()]))).status).toBe(202);
  await proxy.close();
  for (const each of [undefined, key]) {
    const response = await client.post(PATH, body, each);
    expect(response.status).toBe(503);
    expect(response.headers['retry-after']).toBe('1');
    expect(response.json()).toMatchObject({ title: 'Service unavailable', errors: {} });
  }
  await proxy.open();
  expect(await storedBatches()).toBe(1);
  expect((await client.post(PATH, body, key)).status).toBe(202);
  expect(await storedBatches()).toBe(2);
});

test('a batch whose commit was not confirmed is found again under its key', async () => {
  const [key, body] = [randomUUID(), batchOf([eventItem()])];
  expect((await client.post(PATH, batchOf([eventItem()]))).status).toBe(202);
  for (let i = 0; i < 5; i += 1) {
    proxy.cutNextResponse = true;
    expect([202, 503]).toContain((await client.post(PATH, body, key)).status);
  }
  proxy.cutNextResponse = false;
  expect((await client.post(PATH, body, key)).status).toBe(202);
  expect(await storedBatches()).toBe(2);
});

test('429 above the limit of the merchant, and nothing of that is stored under the key', async () => {
  const body = batchOf([eventItem()]);
  const responses = await Promise.all(Array.from({ length: LIMIT + 5 }, () => client.post(PATH, body)));
  expect(responses.filter(({ status }) => status === 202)).toHaveLength(LIMIT);
  const refused = await client.post(PATH, body, randomUUID());
  expect(refused.status).toBe(429);
  expect(refused.json()).toMatchObject({
    title: 'Too many requests',
    detail: 'Rate limit exceeded',
    errors: {},
  });
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect(await storedBatches()).toBe(LIMIT);
});

describe('an Idempotency-Key', () => {
  test('has the empty response replayed and the batch stored once', async () => {
    const [key, body] = [randomUUID(), batchOf([eventItem()])];
    const responses = [await client.post(PATH, body, key), await client.post(PATH, body, key)];
    expect(responses.map(({ status, text }) => [status, text])).toEqual([
      [202, ''],
      [202, ''],
    ]);
    expect(responses.map(({ headers }) => headers['idempotent-replayed'])).toEqual([undefined, 'true']);
    expect(responses[1]!.headers['content-type']).toBeUndefined();
    expect(await storedBatches()).toBe(1);
  });

  test('belongs to one merchant', async () => {
    const clients = [await app.newMerchant(), await app.newMerchant()];
    const [key, body] = [randomUUID(), batchOf([eventItem()])];
    for (const each of clients) {
      const response = await each.post(PATH, body, key);
      expect([response.status, response.headers['idempotent-replayed']]).toEqual([202, undefined]);
      expect(await storedBatches(each)).toBe(1);
    }
  });

  test('finds the batch again when the process died before its response was stored', async () => {
    const [key, body] = [randomUUID(), batchOf([eventItem()])];
    await client.post(PATH, body, key);
    await db.database.query('delete from event_store.responses where scope = $1', [
      client.credentials.apiKey,
    ]);
    const response = await client.post(PATH, body, key);
    expect([response.status, response.headers['idempotent-replayed']]).toEqual([202, undefined]);
    expect(await storedBatches()).toBe(1);
  });

  test('keeps a 400 and its words, and no 401 or 413', async () => {
    const key = randomUUID();
    const tooMany = `{"events":[${'1,'.repeat(1000)}1]}`;
    const forged = {
      method: 'POST',
      path: PATH,
      body: '{}',
      idempotencyKey: key,
      headers: { 'svc-signature': '0' },
    } as const;
    expect((await client.call(forged)).status).toBe(401);
    expect((await client.post(PATH, tooMany, key)).status).toBe(413);
    expect((await client.post(PATH, 'x'.repeat(1_048_576), key)).status).toBe(413);
    const first = await client.post(PATH, '{"events":[]}', key);
    const again = await client.post(PATH, '{"events":[]}', key);
    expect([first.status, first.headers['idempotent-replayed']]).toEqual([400, undefined]);
    expect([again.status, again.headers['idempotent-replayed'], again.text]).toEqual([
      400,
      'true',
      first.text,
    ]);
    expect((await client.post(PATH, batchOf([eventItem()]), key)).status).toBe(422);
  });

  test('is 409 while the first request under it is in flight', async () => {
    const [key, body] = [randomUUID(), batchOf([eventItem()])];
    // Nothing can be inserted until this ends.
    const responses = await db.database.transaction(async (tx) => {
      await tx.query('lock table tracking.batches in exclusive mode');
      const first = client.post(PATH, body, key);
      const other = async (): Promise<ApiResponse> => {
        const response = await client.post(PATH, body, key);
        return response.status === 409 ? response : other();
      };
      const second = await Promise.race([first, other()]);
      await tx.query('commit');
      return [await first, second] as const;
    });
    expect(responses[0].status).toBe(202);
    expect(responses[1].json()).toMatchObject({
      status: 409,
      title: 'Conflict',
      detail: 'A request with this Idempotency-Key is in flight',
    });
    expect(await storedBatches()).toBe(1);
  });
});
