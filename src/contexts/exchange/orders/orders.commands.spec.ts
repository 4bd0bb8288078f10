import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { OrderHarness, type OrderProcess } from '../../../../test/support/exchange/order-harness.js';
import type { DomainError } from '../../../kernel/domain-error.js';
import type { ActOnOrder } from './orders.commands.js';

describe('commands of orders', () => {
  let harness: OrderHarness;
  let process: OrderProcess;

  beforeAll(async () => {
    harness = await OrderHarness.open();
  });
  beforeEach(() => {
    harness.provider.recover();
    process = harness.process();
  });
  afterAll(() => harness.db.drop());

  const refuses = (action: ActOnOrder, code: DomainError['code']) =>
    expect(process.act.execute(action)).rejects.toMatchObject({ name: 'DomainError', code });

  it('create one order with one address when a request is repeated', async () => {
    const key = randomUUID();
    const first = await process.create.execute(harness.creation(key));
    const again = await harness.process().create.execute(harness.creation(key));
    expect(again).toEqual(first);
    expect(first.caller).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.stringify(first)).not.toContain('192.0.2.1');
    const known = harness.provider.orders.size;
    await process.create.execute(harness.creation(randomUUID()));
    expect(harness.provider.orders.size).toBe(known + 1);
  });

  it('send one call to the provider for concurrent refreshes of an order', async () => {
    const orderId = await harness.order(process);
    harness.provider.pay(orderId, '100');
    harness.provider.calls.length = 0;
    const displayed = await Promise.all(
      Array.from({ length: 50 }, () => process.act.execute(harness.refreshment(orderId))),
    );
    expect(displayed.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 'processing'));
    expect(harness.provider.count('status')).toBe(1);
  });

  it('refuse to cancel an order with a received or pending deposit, or while the provider is unavailable', async () => {
    const [paid, awaited, unknown] = await harness.orders(process, 3);
    harness.provider.pay(paid, '100');
    harness.provider.order(awaited).isDepositPending = true;
    for (const id of [paid, awaited]) await refuses(harness.cancellation(id), 'invalid_transition');
    expect((await harness.state(paid)).status).toBe('processing');
    harness.provider.set({ isUnavailable: true });
    await refuses(harness.cancellation(unknown), 'unavailable');
    expect((await harness.state(unknown)).status).toBe('pending');
    harness.provider.set({ isUnavailable: false });
    expect((await process.act.execute(harness.cancellation(unknown))).status).toBe('cancelled');
  });

  it('refuse a refresh with 503 while the provider is unavailable, unless the order has ended', async () => {
    const orderId = await harness.order(process);
    harness.provider.set({ isUnavailable: true });
    await refuses(harness.refreshment(orderId), 'unavailable');
    harness.provider.set({ isUnavailable: false });
    await process.act.execute(harness.cancellation(orderId));
    harness.provider.set({ isUnavailable: true });
    expect((await process.act.execute(harness.refreshment(orderId))).status).toBe('cancelled');
  });
});
