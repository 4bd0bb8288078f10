import { afterAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { ADDRESS } from '../../support/exchange/exchange-orders.js';
import { createUser, PAYOUTS, reported, USERS } from '../../support/payouts/payout-calls.js';
import type { ApiResponse } from '../../support/http/signed-client.js';
import { MerchantWebhooks } from '../../support/webhooks/merchant-webhooks.js';

const today = () => {
  const date = new Date().toISOString().slice(0, 10);
  return { start_date: date, end_date: date };
};
const ENDPOINTS = '/merchants/v1/webhook_endpoints';

/** Locks all checkpoints, like a process that stopped within a batch. */
async function hold(app: TestApp): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: app.config.databaseUrl! });
  await client.connect();
  await client.query('begin');
  await client.query('select from event_store.checkpoints for update');
  return async () => {
    // The transaction ends with the connection.
    await client.end();
  };
}

// A separate service, whose read models no other suite updates.
const app = await startTestApp({ READ_YOUR_WRITES_MS: '500' });
const userId = await createUser(app.merchant);
await reported(app.merchant, userId);
const release = await hold(app);
const payoutId = (await reported(app.merchant, userId, { amount: '7' })).id;
const endpointId = await new MerchantWebhooks(app, app.merchant).register('https://hooks.example.com/held');
const order = await app.exchange.open.order({ pair_id: 'USDCSOL', withdraw_address: ADDRESS });
const orderId = order.json().order.id;

describe('reads after writes while no process can update the read models', () => {
  afterAll(async () => {
    await release?.();
    await app?.close();
  });

  const reads = (): readonly (readonly [string, () => Promise<ApiResponse>, string])[] => [
    ['the payout', () => app.merchant.get(`${PAYOUTS}/${payoutId}`), payoutId],
    ['payouts', () => app.merchant.get(PAYOUTS), payoutId],
    ['the balance', () => app.merchant.get(`${USERS}/${userId}/balance`), '"committed":"8"'],
    ['deliveries', () => app.merchant.get(`${ENDPOINTS}/${endpointId}/deliveries`), '[]'],
    ['statistics', () => app.merchant.get(`${ENDPOINTS}/${endpointId}/stats`), 'webhook_endpoint_stats'],
    ['orders', () => app.exchange.open.list(today()), orderId],
  ];

  it('need no read model for users, endpoints and the evidence of payouts', async () => {
    const user = await createUser(app.merchant);
    expect((await app.merchant.get(`${USERS}/${user}`)).status).toBe(200);
    expect((await app.merchant.get(`${ENDPOINTS}/${endpointId}`)).status).toBe(200);
    expect((await app.merchant.get(ENDPOINTS)).text).toContain(endpointId);
    expect((await app.merchant.get(`${PAYOUTS}/${payoutId}/evidence`)).status).toBe(409);
  });

  it('get 503 if they need a read model, and contain the writes once the models are updated', async () => {
    const held = await Promise.all(
      reads().map(async ([what, read]) => {
        const { status, headers } = await read();
        return [what, status, Number(headers['retry-after']) > 0];
      }),
    );
    expect(held).toEqual(reads().map(([what]) => [what, 503, true]));
    await release();
    for (const [what, read, shown] of reads()) {
      const { text } = await eventually(async () => {
        const response = await read();
        return response.status === 200 && response;
      });
      expect([what, text.includes(shown)]).toEqual([what, true]);
    }
  });
});
