import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { OrderHarness, type OrderProcess } from '../../../../test/support/exchange/order-harness.js';
import { eventually } from '../../../../test/support/eventually.js';
import type { ExistingOrder } from '../orders/order.js';

const COMPLETED = [
  'order.created.v1',
  'order.deposit_received.v1',
  'order.processing_started.v1',
  'order.completed.v1',
];

describe('the worker that polls orders', () => {
  let harness: OrderHarness;
  let process: OrderProcess;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    harness = await OrderHarness.open();
  });
  beforeEach(async () => {
    await harness.db.database.query('truncate work.items');
    harness.provider.recover();
    process = harness.process();
  });
  afterAll(() => harness.db.drop());

  const poll = async (): Promise<void> => {
    await harness.makeDue();
    await process.work();
  };
  /** Polls and follows until the condition holds for the order. */
  const until = (orderId: string, holds: (state: ExistingOrder) => boolean): Promise<unknown> =>
    eventually(async () => {
      await harness.follow();
      await poll();
      return holds(await harness.state(orderId));
    });
  const becomes = (orderId: string, status: string): Promise<unknown> =>
    until(orderId, (state) => state.status === status);

  it('uses the deadline of the provider for an order if the configured deadline is later', async () => {
    harness.provider.set({ holdsMs: 60_000 });
    const before = Date.now();
    const { expires_at } = await harness.state(await harness.order(process));
    const expiresMs = Date.parse(expires_at);
    expect(expiresMs).toBeGreaterThanOrEqual(before + 60_000);
    expect(expiresMs).toBeLessThanOrEqual(Date.now() + 60_000);
    harness.provider.set({ holdsMs: 7_200_000 });
    const ours = await harness.state(await harness.order(process));
    expect(Date.parse(ours.expires_at) - Date.parse(ours.created_at)).toBe(3_600_000);
  });

  it('fails an order whose deposit belongs to another order, and logs an error', async () => {
    const [one, other, later] = await harness.orders(process, 3);
    const batch = (id: string): void =>
      void harness.provider.order(id).deposits.push({
        deposit_id: `batch of ${id}`,
        amount: '100',
        transaction_hash: '0xsame',
        claim: 'memory_0xsame',
        deposited_at: new Date().toISOString(),
      });
    batch(one);
    await becomes(one, 'completed');
    const errors = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    batch(other);
    await becomes(other, 'failed');
    const notice = { msg: expect.stringMatching(/^deposit refused/), order_id: other, owner: `order-${one}` };
    expect(errors).toHaveBeenCalledWith(expect.objectContaining(notice));
    errors.mockRestore();
    expect(await harness.state(other)).toMatchObject({
      reason: 'deposit_of_another_order',
      deposits: [],
      late_deposits: [],
      refundable: '0',
    });
    harness.provider.order(other).outcome = { kind: 'completed', transactionHash: '0xout', amountTo: null };
    await until(other, ({ late_outcomes }) => late_outcomes.length === 1);
    expect(await harness.types(one)).toEqual(COMPLETED);
    batch(later);
    await expect(process.act.execute(harness.cancellation(later))).rejects.toMatchObject({
      code: 'invalid_transition',
    });
    expect((await process.act.execute(harness.refreshment(later))).status).toBe('failed');
  });

  it('records each event once, even if several processes poll the same orders at the same time', async () => {
    const others = [harness.process(), harness.process(), harness.process()];
    const ids = await harness.orders(process, 30);
    for (const id of ids) harness.provider.pay(id, '60');
    for (let round = 0; round < 6; round += 1) {
      if (round === 1) for (const id of ids) harness.provider.pay(id, '40');
      await harness.follow(null);
      await harness.makeDue();
      // All processes poll the same orders without leases.
      await Promise.all(others.map((other) => other.work().then(() => harness.makeDue())));
    }
    for (const id of ids)
      expect(await harness.types(id)).toEqual([
        ...COMPLETED.slice(0, 2),
        'order.deposit_received.v1',
        ...COMPLETED.slice(2),
      ]);
  });

  it('repeats the cancellation of an ended order until the provider has accepted that cancellation', async () => {
    const orderId = await harness.order(process);
    await process.act.execute(harness.cancellation(orderId));
    harness.provider.set({ isUnavailable: true });
    await harness.follow();
    await process.work();
    expect(await harness.row(orderId)).toMatchObject({ notified: null, failures: 1, cause: 'unavailable' });
    harness.provider.set({ isUnavailable: false });
    await poll();
    expect(await harness.row(orderId)).toMatchObject({ notified: 'cancel', failures: 0 });
    const cancels = harness.provider.count('cancel');
    await poll();
    expect(harness.provider.count('cancel')).toBe(cancels);
  });

  it('records late deposits even while the provider does not accept the cancellation of the order', async () => {
    harness.provider.set({ holdsMs: 1 });
    const orderId = await harness.order(process);
    harness.provider.set({ acceptsNothing: true });
    await becomes(orderId, 'expired');
    harness.provider.pay(orderId, '5');
    await poll();
    expect(await harness.state(orderId)).toMatchObject({ late_deposits: [{ amount: '5' }] });
    expect(await harness.row(orderId)).toMatchObject({ notified: null });
    harness.provider.set({ acceptsNothing: false });
    await poll();
    expect(await harness.row(orderId)).toMatchObject({ notified: 'cancel', failures: 0 });
  });

  it('ends no order while the clock of the process is wrong', async () => {
    const fast = harness.process({ now: () => new Date(Date.now() + 7 * 24 * 3_600_000) });
    const orderId = await harness.order(process);
    harness.provider.set({ aheadMs: 7 * 24 * 3_600_000 });
    harness.provider.pay(orderId, '1');
    await fast.work();
    expect(await harness.types(orderId)).toEqual(['order.created.v1', 'order.deposit_received.v1']);
  });

  it('pauses its calls during an outage of the provider and resumes afterwards', async () => {
    const ids = await harness.orders(process, 50);
    for (const id of ids) harness.provider.pay(id, '100');
    harness.provider.set({ isUnavailable: true });
    for (let round = 0; round < 20; round += 1) await poll();
    // The order was due a thousand times.
    expect(harness.provider.count('status')).toBeLessThan(100);
    harness.provider.set({ isUnavailable: false });
    for (const id of ids) await becomes(id, 'completed');
  });

  it('completes an order even if another order cannot be polled', async () => {
    const [bad, good] = await harness.orders(process, 2);
    harness.provider.set({ brokenOrder: bad });
    harness.provider.pay(good, '100');
    await becomes(good, 'completed');
    expect((await harness.row(bad))['failures']).toBeGreaterThan(0);
    expect(await harness.row(bad)).toMatchObject({ cause: 'unexpected' });
  });
});
