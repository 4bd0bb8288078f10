import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { Log } from '../../../src/platform/telemetry/logger.js';
import { scrape } from '../../../src/platform/telemetry/metrics.js';
import { startTestApp } from '../../support/app.js';
import { DisconnectableProxy } from '../../support/database/disconnectable-proxy.js';
import { testDatabase } from '../../support/postgres.js';
import { batchOf, eventItem, type SentItem } from '../../support/tracking/event-batches.js';
import type { ApiResponse, SignedClient } from '../../support/http/signed-client.js';
import { freshReport } from '../../support/fresh-report.js';
import { eventually } from '../../support/eventually.js';
import { TestReceiver } from '../../support/webhooks/receiver.js';

const PATH = '/merchants/v1/events';
const MAX_BYTES = 1_048_575;

const folder = mkdtempSync(join(tmpdir(), 'disburse-events-'));
const db = await testDatabase();
const proxy = new DisconnectableProxy(new URL(db.url));
const log = { LOG_LEVEL: 'info', LOG_FILE: join(folder, 'service.log') };
const provider = await TestReceiver.start();
provider.behavior = () => undefined;
const analytics = { AMPLITUDE_API_KEY: 'key', AMPLITUDE_URL: provider.url, ANALYTICS_TIMEOUT_MS: '30000' };
// A separate service, because of a log file, a database that fails, and an unresponsive provider.
const app = await startTestApp({ ...log, ...analytics, DATABASE_URL: await proxy.open() });

afterAll(async () => {
  await provider.stop();
  await app.close();
  await proxy.close();
  await db.drop();
  rmSync(folder, { recursive: true, force: true });
});

interface Stored {
  readonly body: Buffer;
  readonly item_count: number;
}

function stored(client: SignedClient): Promise<Stored[]> {
  return db.database.query<Stored & Record<string, unknown>>(
    'select body, item_count from tracking.batches where merchant_id = $1 order by received_at',
    [client.credentials.apiKey],
  );
}

function expectProblem(response: ApiResponse, status: number, title: string, detail: string | RegExp): void {
  expect(response.headers['content-type']).toMatch(/^application\/problem\+json/);
  const problem = response.json();
  expect(problem).toMatchObject({ type: 'about:blank', title, status, instance: null, errors: {} });
  expect(problem['detail']).toEqual(typeof detail === 'string' ? detail : expect.stringMatching(detail));
  expect(response.status).toBe(status);
}

function logged(): SentItem[] {
  app.app.get(Log).flush();
  // The last line may be incomplete.
  const lines = readFileSync(join(folder, 'service.log'), 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as SentItem);
}

/** Reads the numbers of accepted and malformed batches from the metrics. */
async function counts(): Promise<number[]> {
  const text = await freshReport(scrape);
  return [
    'event_batches_received_total{outcome="accepted"}',
    'event_batches_received_total{outcome="malformed"}',
  ].map((series) => Number(text.split(`disburse_${series} `)[1]?.split('\n')[0] ?? 0));
}

function batchOfBytes(bytes: number): string {
  const text = batchOf([eventItem({ payload: { filler: '' } })]);
  return text.replace('"filler":""', `"filler":"${'x'.repeat(bytes - Buffer.byteLength(text))}"`);
}

describe('a batch of events that is accepted with 202', () => {
  test('is stored as it was sent, and the response has no body', async () => {
    const client = await app.newMerchant();
    const body = `\ufeff ${batchOf([eventItem(), eventItem({ device_id: undefined, event_name: 'Köln \u{1F600}' })])}\n`;
    const response = await client.post(PATH, body);
    expect(response).toMatchObject({ status: 202, text: '' });
    expect(response.headers['content-type']).toBeUndefined();
    expect(response.headers['request-id']).toBeDefined();
    expect(response.headers['ratelimit']).toBeDefined();
    expect(await stored(client)).toEqual([{ body: Buffer.from(body), item_count: 2 }]);
  });

  test('can have 1000 events or 1,048,575 bytes, and many batches can arrive at once', async () => {
    const client = await app.newMerchant();
    const thousand = batchOf(Array.from({ length: 1000 }, () => eventItem()));
    const largest = batchOfBytes(MAX_BYTES);
    const bodies = [thousand, largest, ...Array.from({ length: 40 }, () => batchOf([eventItem()]))];
    const responses = await Promise.all(bodies.map((body) => client.post(PATH, body)));
    expect(responses.map(({ status }) => status)).toEqual(bodies.map(() => 202));
    const rows = await stored(client);
    expect(rows.map(({ body }) => body.toString()).sort()).toEqual([...bodies].sort());
  });

  test('is logged and measured with the number of its events', async () => {
    const client = await app.newMerchant();
    const before = await counts();
    const response = await client.post(PATH, batchOf([eventItem(), eventItem(), eventItem()]));
    await client.post(PATH, batchOf([eventItem(), eventItem({ event_id: 'x' })]));
    const after = await counts();
    expect(after.map((value, i) => value - before[i]!)).toEqual([1, 1]);
    // The line is written after the response.
    const line = await eventually(
      () => logged().find((each) => each['request_id'] === response.headers['request-id']) ?? null,
    );
    expect(line).toMatchObject({ route: PATH, status: 202, items: 3 });
  });
});

test('a provider that never responds slows no request and does not affect readiness', async () => {
  // Five waits for the provider would exceed the timeout of a test.
  for (let n = 0; n < 5; n += 1) await app.merchant.post(PATH, batchOf([eventItem()]));
  await eventually(() => provider.received.length > 0);
  expect(provider.received[0]!.body).toContain('"device_id":"');
  expect((await fetch(`${app.url}/health/ready`)).status).toBe(200);
});

describe('a batch of events that is refused with 400', () => {
  test('is refused whole for one faulty event, and nothing of it is stored', async () => {
    const client = await app.newMerchant();
    const events = Array.from({ length: 999 }, () => eventItem());
    const response = await client.post(PATH, batchOf([...events, eventItem({ event_id: '1' })]));
    expectProblem(response, 400, 'Bad request', 'events[999].event_id must be a UUID v4');
    expect(await stored(client)).toEqual([]);
  });
});

test('a batch without a valid signature gets 401 before the body is read', async () => {
  const call = (body: string, headers: Record<string, string | null>) =>
    app.merchant.call({ method: 'POST', path: PATH, body, headers });
  const tooMany = `{"events":[${'1,'.repeat(1000)}1]}`;
  for (const body of ['nonsense', tooMany, batchOf([eventItem()])]) {
    const response = await call(body, { 'svc-signature': '0'.repeat(64) });
    expect(response.status).toBe(401);
    expect(response.json()['string_to_sign_bytes']).toBeDefined();
  }
  expect((await call(tooMany, { 'svc-signature': null })).status).toBe(401);
});

describe('a batch of events that is refused with 413', () => {
  const tooManyEvents = 'A batch must contain at most 1000 events';
  const tooLarge = 'The request body must be smaller than 1048576 bytes';

  test('has more than 1000 events, valid or not', async () => {
    const client = await app.newMerchant();
    const events = Array.from({ length: 1001 }, () => eventItem({ payload: {}, device_id: undefined }));
    for (const body of [batchOf(events), `{"events":[${'1,'.repeat(1000)}1]}`])
      expectProblem(await client.post(PATH, body), 413, 'Content too large', tooManyEvents);
    expect(await stored(client)).toEqual([]);
  });

  test('announces 1,048,576 bytes or more', async () => {
    for (const bytes of [MAX_BYTES + 1, 3_000_000])
      expectProblem(await app.merchant.post(PATH, batchOfBytes(bytes)), 413, 'Content too large', tooLarge);
  });
});

test('a repeat under an Idempotency-Key replays the empty response and stores the batch once', async () => {
  const client = await app.newMerchant();
  const [key, body] = [randomUUID(), batchOf([eventItem()])];
  const responses = [await client.post(PATH, body, key), await client.post(PATH, body, key)];
  expect(responses.map(({ status, text }) => [status, text])).toEqual([
    [202, ''],
    [202, ''],
  ]);
  expect(responses.map(({ headers }) => headers['idempotent-replayed'])).toEqual([undefined, 'true']);
  expect(responses[1]!.headers['content-type']).toBeUndefined();
  expect(await stored(client)).toHaveLength(1);
});

test('a batch gets 503 and is not stored while the database is unavailable, and is accepted later', async () => {
  const client = await app.newMerchant();
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
  expect(await stored(client)).toHaveLength(1);
  expect((await client.post(PATH, body, key)).status).toBe(202);
  expect(await stored(client)).toHaveLength(2);
});

test('a batch whose commit was not confirmed is stored once if it is repeated under its key', async () => {
  const client = await app.newMerchant();
  const [key, body] = [randomUUID(), batchOf([eventItem()])];
  expect((await client.post(PATH, batchOf([eventItem()]))).status).toBe(202);
  for (let i = 0; i < 5; i += 1) {
    proxy.cutNextResponse = true;
    expect([202, 503]).toContain((await client.post(PATH, body, key)).status);
  }
  proxy.cutNextResponse = false;
  expect((await client.post(PATH, body, key)).status).toBe(202);
  expect(await stored(client)).toHaveLength(2);
});
