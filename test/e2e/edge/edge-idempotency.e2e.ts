import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startEdgeApp, type EdgeApp } from '../../support/http/edge-app.js';
import { testDatabase, type TestDatabase } from '../../support/postgres.js';

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

const COMMIT = '/merchants/v1/probe/commit';

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
  const id = created[0]!.json().thing.id;
  const [events] = await db.database.query(
    'select count(*)::int as n from event_store.events where stream = $1',
    [`probe-${id}`],
  );
  expect(events).toEqual({ n: 1 });
});
