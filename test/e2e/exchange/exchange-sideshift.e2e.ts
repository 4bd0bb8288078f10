import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import type { OrderRecord } from '../../../src/contexts/exchange/orders/order-record.js';
import { startTestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { ADDRESS, expectProblem, orderIn } from '../../support/exchange/exchange-orders.js';
import { specFolder } from '../../support/run-folder.js';
import { SideShift } from '../../support/exchange/sideshift/sideshift.js';

const REQUEST = { pair_id: 'USDCSOL', withdraw_address: ADDRESS, user_id: 'ann' };
/** An address of a network in Iran. */
const FROM_THERE = { 'x-forwarded-for': '185.143.234.1' };

const folder = specFolder('sideshift');
const notices = join(folder, 'notices.json');
writeFileSync(notices, '{"IR": "Not offered in Iran."}');
const logFile = join(folder, 'service.log');
const sideshift = await SideShift.start();
const { sideshiftUrl, sideshiftSecret, sideshiftAffiliateId } = sideshift.account;
// A separate service, because of its provider and its log.
const app = await startTestApp({
  EXCHANGE_PROVIDER: 'sideshift',
  SIDESHIFT_URL: sideshiftUrl,
  SIDESHIFT_SECRET: sideshiftSecret,
  SIDESHIFT_AFFILIATE_ID: sideshiftAffiliateId,
  EXCHANGE_NOTICES_FILE: notices,
  EXCHANGE_CHECK_INTERVAL_MS: '50',
  TRUST_PROXY: '127.0.0.1/32',
  LOG_LEVEL: 'info',
  LOG_FILE: logFile,
});
const { open } = app.exchange;
afterAll(async () => {
  await app?.close();
  await sideshift?.shutDown();
});

async function newOrder(): Promise<{ order: OrderRecord; shiftId: string }> {
  const order = orderIn(await open.order(REQUEST), 201);
  const shift = [...sideshift.book.shifts.values()].find(({ externalId }) => externalId === order.id)!;
  return { order, shiftId: shift.id };
}

const until = (id: string, status: string): Promise<OrderRecord> =>
  eventually(async () => {
    const order = orderIn(await open.act(id, 'refresh', ADDRESS));
    return order.status === status && order;
  });

describe('an order at SideShift', () => {
  it('is completed after a deposit of the requested amount', async () => {
    const { order, shiftId } = await newOrder();
    expect(order).toMatchObject({ status: 'pending', amount_from: '100', minimum: '100', maximum: '100' });
    expect(order.deposit_address).toBe(sideshift.book.find(shiftId).depositAddress);
    sideshift.pay(shiftId, '100');
    const done = await until(order.id, 'completed');
    const [deposit] = sideshift.book.find(shiftId).deposits;
    expect(done).toMatchObject({
      amount_to: order.amount_to,
      amount_received: '100',
      amount_refundable: '0',
      deposit_transaction_hash: deposit!.depositHash,
      withdraw_transaction_hash: deposit!.settleHash,
    });
  });

  it('cannot be created while SideShift is unavailable, which readiness reports', async () => {
    await sideshift.shutDown();
    const response = await open.order(REQUEST);
    expectProblem(response, 503);
    expect(response.headers['retry-after']).toBe('5');
    await eventually(async () => {
      const ready = await fetch(`${app.url}/health/ready`);
      return ready.status === 200 && (await ready.text()).includes('sideshift is unavailable');
    });
    await sideshift.restart();
    await eventually(async () => (await open.order(REQUEST)).status === 201);
  });
});

describe('the notice for the country of the caller', () => {
  it('is returned with orders, their actions, tokens and the configuration', async () => {
    const { order } = await newOrder();
    for (const call of [
      { method: 'POST', path: '/v1/orders', query: REQUEST },
      { method: 'PATCH', path: `/v1/orders/${order.id}/refresh` },
      { path: '/v1/tokens', query: { to_token: 'sol' } },
      { path: '/v1/merchants/configuration', query: { token: 'sol', withdraw_address: ADDRESS } },
    ] as const) {
      const there = await open.call({ ...call, headers: FROM_THERE });
      const notice = { compliance_notice: 'Not offered in Iran.' };
      expect([call.path, there.json()]).toMatchObject([call.path, notice]);
      const elsewhere = await open.call({ ...call, headers: { 'x-forwarded-for': '8.8.8.8' } });
      expect(elsewhere.json()).toMatchObject({ compliance_notice: null });
    }
  });
});

it('the service logs neither the SideShift secret nor the payout address', () => {
  const log = readFileSync(logFile, 'utf8');
  expect(log).toContain('exchange provider call failed');
  expect(log).not.toContain(sideshift.account.sideshiftSecret);
  expect(log).not.toContain(ADDRESS);
});
