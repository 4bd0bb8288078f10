import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { ListedOrder } from '../../../src/contexts/exchange/domain/listed-order.js';
import type { OperationJson } from '../../../src/platform/operations/operations.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { ADDRESS, orderIn } from '../../support/exchange/exchange-orders.js';

let app: TestApp;

beforeAll(async () => {
  app = await startTestApp({
    OPERATIONS_APPROVALS: 'off',
    EXCHANGE_CHECK_INTERVAL_MS: '50',
    EXCHANGE_SCAN_INTERVAL_MS: '20',
    EXCHANGE_SETTLE_MS: '50',
  });
});
afterAll(() => app?.close());

it('a refund is recorded at once where approvals are off, which its operation says', async () => {
  const admin = await app.newAdmin({ role: 'finance' });
  const pay = async (address: string, amount: string): Promise<string> => {
    const { hash } = await app.chain.transfer(address, amount);
    await app.chain.mine();
    return hash;
  };
  const created = await app.exchange.open.order({ pair_id: 'USDCSOL', withdraw_address: ADDRESS });
  const { id, deposit_address } = orderIn(created, 201);
  const until = (holds: (order: ListedOrder) => boolean): Promise<unknown> =>
    eventually(async () => holds((await admin.get(`/orders/${id}`)).json<{ order: ListedOrder }>().order));
  await pay(deposit_address, '100');
  await until(({ status }) => status === 'completed');
  await pay(deposit_address, '33.5');
  await until(({ amount_refundable }) => amount_refundable === '33.5');
  const transaction_hash = await pay(await app.chain.funded.getAddress(), '33.5');
  const refund = { amount: '33.5', transaction_hash, reason: 'Sent back by finance' };
  const response = await admin.change(`/orders/${id}`, '/refunds', refund);
  expect([response.status, response.text]).toEqual([201, expect.anything()]);
  const { order, operation_id } = response.json<{ order: ListedOrder; operation_id: string }>();
  expect(order).toMatchObject({ amount_refundable: '0', refunds: [{ amount: '33.5', transaction_hash }] });
  const { operation } = (await admin.get(`/operations/${operation_id}`)).json<{ operation: OperationJson }>();
  expect(operation).toMatchObject({
    name: 'orders.record_refund',
    status: 'executed',
    approval: 'off',
    decided_by: null,
    requested_by: { operator_id: admin.operatorId, role: 'finance' },
  });
  // The same transfer is the same refund.
  const again = await admin.change(`/orders/${id}`, '/refunds', refund);
  expect(again.json<{ order: ListedOrder }>().order).toMatchObject({ refunds: [{ transaction_hash }] });
  const other = { ...refund, transaction_hash: await pay(await app.chain.funded.getAddress(), '33.5') };
  expect((await admin.change(`/orders/${id}`, '/refunds', other)).status).toBe(409);
});
