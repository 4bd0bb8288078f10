import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestApp, type TestApp } from '../support/app.js';

let app: TestApp;

beforeAll(async () => {
  app = await startTestApp();
});

afterAll(() => app.close());

const PATH = '/merchants/v1/events';

function item(fields: object = {}): Record<string, unknown> {
  return {
    event_name: 'Purchase',
    payload: { amount: 1 },
    event_datetime: '2026-01-31T12:00:00Z',
    event_id: randomUUID(),
    user_external_id: 'customer-1',
    ...fields,
  };
}

test('a batch is accepted, as it was sent', async () => {
  const body = JSON.stringify({ events: [item(), item({ device_id: 'd' })] });
  const answer = await app.merchant.post(PATH, body);
  expect(answer).toMatchObject({ status: 202, text: '' });
  const rows = await app.database.query<{ body: Buffer }>(
    'select body, item_count from tracking.batches where merchant_id = $1',
    [app.merchant.credentials.apiKey],
  );
  expect(rows).toEqual([{ body: Buffer.from(body), item_count: 2 }]);
});
