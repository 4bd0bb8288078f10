import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { startEdgeApp, type EdgeApp } from '../../support/http/edge-app.js';
import { eventually } from '../../support/eventually.js';
import { testDatabase, type TestDatabase } from '../../support/postgres.js';
import type { SignedCall } from '../../support/http/signed-client.js';

let db: TestDatabase;
let edge: EdgeApp;
let other: EdgeApp;

beforeAll(async () => {
  db = await testDatabase();
  [edge, other] = await Promise.all(
    [0, 1].map(() => startEdgeApp(db.database, { RATE_LIMIT_PER_MINUTE: '5000' })) as [
      Promise<EdgeApp>,
      Promise<EdgeApp>,
    ],
  );
});

afterAll(async () => {
  await Promise.all([edge.close(), other.close()]);
  await db.drop();
});

beforeEach(() => {
  edge.probe.runs = 0;
  edge.probe.fail(null);
});

afterEach(() => edge.probe.release());

const COMMIT = '/merchants/v1/probe/commit';
const PLAIN = '/merchants/v1/probe/plain';
const SLOW = '/merchants/v1/probe/slow';

test('a response that went with its events is replayed byte for byte', async () => {
  const client = edge.client();
  const key = randomUUID();
  const first = await client.post(COMMIT, { a: 1 }, key);
  const again = await client.post(COMMIT, { a: 1 }, key);
  expect(first.status).toBe(201);
  expect(first.headers['idempotent-replayed']).toBeUndefined();
  expect([again.status, again.text]).toEqual([201, first.text]);
  expect(again.headers['content-type']).toBe(first.headers['content-type']);
  expect(again.headers['idempotent-replayed']).toBe('true');
  const id = first.json<{ thing: { id: string } }>().thing.id;
  const [events] = await db.database.query(
    'select count(*)::int as n from event_store.events where stream = $1',
    [`probe-${id}`],
  );
  expect(events).toEqual({ n: 1 });
});

test.each([
  ['POST', 201],
  ['PATCH', 200],
  ['DELETE', 204],
] as const)('%s that wrote no event is replayed too', async (method, status) => {
  const client = edge.client();
  const call: SignedCall = { method, path: PLAIN, idempotencyKey: randomUUID() };
  const first = await client.call(call);
  const again = await client.call(call);
  expect(edge.probe.runs).toBe(1);
  expect([first.status, again.status]).toEqual([status, status]);
  expect(again.text).toBe(first.text);
  expect(again.headers['content-type']).toBe(first.headers['content-type']);
  expect(again.headers['idempotent-replayed']).toBe('true');
});

test('a repeat while the original is in flight is 409; after it, a replay', async () => {
  const client = edge.client();
  const key = randomUUID();
  edge.probe.hold();
  const original = client.post(SLOW, {}, key);
  await eventually(() => edge.probe.runs === 1);
  const repeat = await client.post(SLOW, {}, key);
  expect(repeat.status).toBe(409);
  expect(repeat.json()).toMatchObject({ status: 409, title: 'Conflict', errors: {} });
  expect((await client.post(SLOW, { other: true }, key)).status).toBe(422);
  expect((await edge.client().post(PLAIN, {}, key)).status).toBe(201);
  edge.probe.release();
  const first = await original;
  expect(first.status).toBe(201);
  const after = await client.post(SLOW, {}, key);
  expect([after.status, after.text]).toEqual([201, first.text]);
  expect(edge.probe.runs).toBe(2);
});

test('100 concurrent repeats in two processes: one event, every response 409 or the first 201', async () => {
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
  const id = created[0]!.json<{ thing: { id: string } }>().thing.id;
  const [events] = await db.database.query(
    'select count(*)::int as n from event_store.events where stream = $1',
    [`probe-${id}`],
  );
  expect(events).toEqual({ n: 1 });
});

test.each([
  ['404', 'absent'],
  ['409', 'domain'],
  ['422', 'unfit'],
])(
  '%s is not the response of its key: once what was missing is there, a repeat is done',
  async (status, fail) => {
    const client = edge.client();
    const key = randomUUID();
    edge.probe.fail(fail);
    const refused = [await client.post(COMMIT, { a: 1 }, key), await client.post(COMMIT, { a: 1 }, key)];
    for (const response of refused) {
      expect(String(response.status)).toBe(status);
      expect(response.headers['idempotent-replayed']).toBeUndefined();
    }
    edge.probe.fail(null);
    const done = await client.post(COMMIT, { a: 1 }, key);
    expect([done.status, done.headers['idempotent-replayed']]).toEqual([201, undefined]);
    // A later result does not count: the operation was done.
    edge.probe.fail(fail);
    const after = await client.post(COMMIT, { a: 1 }, key);
    edge.probe.fail(null);
    expect([after.status, after.text]).toEqual([201, done.text]);
  },
);

test('401, 413, 429 and 5xx are not the response of a key', async () => {
  const client = edge.client();
  const key = randomUUID();
  const failed = await client.post(COMMIT, { fail: 'unexpected' }, key);
  expect(failed.status).toBe(500);
  expect(failed.json()).toMatchObject({ title: 'Internal server error', status: 500 });
  expect(failed.text).not.toContain('hunter2');
  expect(
    (await client.post(COMMIT, { fail: 'unexpected' }, key)).headers['idempotent-replayed'],
  ).toBeUndefined();
  const bad = {
    method: 'POST',
    path: PLAIN,
    idempotencyKey: key,
    headers: { 'svc-signature': '0'.repeat(64) },
  } as const;
  expect((await client.call(bad)).status).toBe(401);
  expect((await client.post(PLAIN, Buffer.alloc(1_048_576, 0x20), key)).status).toBe(413);
  const rows = await db.database.query('select 1 from event_store.responses where key = $1', [key]);
  expect(rows).toEqual([]);
});

test('the events name the route, request and merchant that caused them', async () => {
  const client = edge.client();
  const response = await client.post(COMMIT, {});
  expect(edge.probe.causes.at(-1)).toEqual({
    actor: `POST ${COMMIT}`,
    request_id: response.headers['request-id'],
    merchant_id: client.credentials.apiKey,
  });
});
