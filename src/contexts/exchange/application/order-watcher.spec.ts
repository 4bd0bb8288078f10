import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { OrderLab, type OrderProcess } from '../../../../test/support/order-lab.js';
import { eventually } from '../../../../test/support/eventually.js';
import { WATCH, wakeWatches } from '../store/watches.js';

const COMPLETED = [
  'order.created.v1',
  'order.deposit_received.v1',
  'order.processing_started.v1',
  'order.completed.v1',
];

describe('the watch of orders', () => {
  let lab: OrderLab;
  let process: OrderProcess;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    lab = await OrderLab.open();
  });
  beforeEach(async () => {
    await lab.db.database.query('truncate exchange.watches, work.items');
    lab.provider.set({
      isUnavailable: false,
      holdsMs: 3_600_000,
      aheadMs: 0,
      beforeStatus: () => undefined,
    });
    lab.provider.calls.length = 0;
    process = lab.process();
  });
  afterAll(() => lab.db.drop());

  /** Works and follows until the order is so. */
  const until = (orderId: string, status: string, by = process): Promise<unknown> =>
    eventually(async () => {
      await lab.follow();
      await lab.makeDue();
      await by.work();
      return (await lab.state(orderId)).status === status;
    });

  it('brings an order from its deposit to its end, and has the provider pay out', async () => {
    const orderId = await lab.order(process);
    await process.work();
    expect(await lab.types(orderId)).toEqual(['order.created.v1']);
    lab.provider.pay(orderId, '100');
    await until(orderId, 'completed');
    expect(await lab.types(orderId)).toEqual(COMPLETED);
    expect(lab.provider.count('settle')).toBe(1);
    await lab.makeDue();
    await process.work();
    expect(await lab.row(orderId)).toMatchObject({
      status: 'completed',
      notified: 'settle',
      refundable: '0',
    });
  });

  it('ends an order when the provider says so, where its deposit address ends before ours', async () => {
    lab.provider.set({ holdsMs: 60_000 });
    const before = Date.now();
    const { facts } = await lab.state(await lab.order(process));
    const expiresMs = Date.parse(facts.expires_at);
    expect(expiresMs).toBeGreaterThanOrEqual(before + 60_000);
    expect(expiresMs).toBeLessThanOrEqual(Date.now() + 60_000);
    lab.provider.set({ holdsMs: 7_200_000 });
    const ours = (await lab.state(await lab.order(process))).facts;
    expect(Date.parse(ours.expires_at) - Date.parse(ours.created_at)).toBe(3_600_000);
  });

  it('ends an order whose deposit is that of another order, and notifies the operator', async () => {
    const [one, other, later] = [
      await lab.order(process),
      await lab.order(process),
      await lab.order(process),
    ];
    const batch = (id: string): void =>
      void lab.provider.order(id).deposits.push({
        ...{ id: `batch of ${id}`, amount: '100', transactionHash: '0xsame', claim: 'memory_0xsame' },
        at: new Date().toISOString(),
      });
    batch(one);
    await until(one, 'completed');
    const errors = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    batch(other);
    await until(other, 'failed');
    const notice = { msg: expect.stringMatching(/^deposit refused/), order_id: other, owner: `order-${one}` };
    expect(errors).toHaveBeenCalledWith(expect.objectContaining(notice));
    errors.mockRestore();
    expect(await lab.state(other)).toMatchObject({
      ...{ reason: 'deposit_of_another_order', deposits: [], lateDeposits: [], refundable: '0' },
    });
    lab.provider.order(other).outcome = { kind: 'completed', transactionHash: '0xout', amountTo: null };
    await eventually(async () => {
      await lab.follow();
      await lab.makeDue();
      await process.work();
      return (await lab.state(other)).lateOutcomes.length === 1;
    });
    expect(await lab.types(one)).toEqual(COMPLETED);
    batch(later);
    await expect(process.cancel.execute(lab.cancellation(later))).rejects.toMatchObject({
      code: 'invalid_transition',
    });
    expect((await process.refresh.execute(lab.refreshment(later))).status).toBe('failed');
  });

  it('is the same however many processes poll, and however often events are delivered', async () => {
    const others = [lab.process(), lab.process(), lab.process()];
    const ids = await Promise.all(Array.from({ length: 30 }, () => lab.order(process)));
    for (const id of ids) lab.provider.pay(id, '60');
    for (let round = 0; round < 6; round += 1) {
      if (round === 1) for (const id of ids) lab.provider.pay(id, '40');
      await lab.follow(null);
      await lab.makeDue();
      // Without leases they poll the same orders.
      await Promise.all(others.map((other) => other.work().then(() => lab.makeDue())));
    }
    for (const id of ids)
      expect(await lab.types(id)).toEqual([
        ...COMPLETED.slice(0, 2),
        'order.deposit_received.v1',
        ...COMPLETED.slice(2),
      ]);
  });

  it('notifies the provider of an end until it has accepted it', async () => {
    const orderId = await lab.order(process);
    await process.cancel.execute(lab.cancellation(orderId));
    lab.provider.set({ isUnavailable: true });
    await lab.follow();
    await process.work();
    expect(await lab.row(orderId)).toMatchObject({ notified: null, failures: 1 });
    lab.provider.set({ isUnavailable: false });
    await lab.makeDue();
    await process.work();
    expect(await lab.row(orderId)).toMatchObject({ notified: 'cancel', status: 'cancelled', failures: 0 });
    const cancels = lab.provider.count('cancel');
    await lab.makeDue();
    await process.work();
    expect(lab.provider.count('cancel')).toBe(cancels);
  });

  it('keeps what it found when the provider does not take what follows from it', async () => {
    lab.provider.set({ holdsMs: 1 });
    const orderId = await lab.order(process);
    lab.provider.set({ acceptsNothing: true });
    await until(orderId, 'expired');
    lab.provider.pay(orderId, '5');
    await lab.makeDue();
    await process.work();
    expect(await lab.row(orderId)).toMatchObject({ status: 'expired', refundable: '5', notified: null });
    lab.provider.set({ acceptsNothing: false });
    await lab.makeDue();
    await process.work();
    expect(await lab.row(orderId)).toMatchObject({ notified: 'cancel', failures: 0 });
  });

  it('lists for the operator an outcome after the end of the order', async () => {
    const orderId = await lab.order(process);
    await process.cancel.execute(lab.cancellation(orderId));
    lab.provider.pay(orderId, '100');
    lab.provider.order(orderId).outcome = { kind: 'refunded', transactionHash: '0xback' };
    await lab.follow();
    await process.work();
    const [listed] = await lab.watches.list({
      status: null,
      keyId: lab.keyId,
      isRefundable: true,
      isShort: false,
      limit: 1,
    });
    expect(listed).toMatchObject({ order_id: orderId, refundable: '100', late_outcomes: ['refunded'] });
  });

  it('ends an order whose time is over, and is still polled for late deposits', async () => {
    lab.provider.set({ holdsMs: 1 });
    const orderId = await lab.order(process);
    await until(orderId, 'expired');
    lab.provider.pay(orderId, '100');
    await lab.makeDue();
    await process.work();
    await lab.follow();
    await process.work();
    expect((await lab.state(orderId)).lateDeposits).toHaveLength(1);
    expect(await lab.row(orderId)).toMatchObject({
      status: 'expired',
      refundable: '100',
      notified: 'cancel',
    });
    expect((await lab.row(orderId))['seconds']).toBeGreaterThan(30);
  });

  it('ends none by a clock that is off', async () => {
    const fast = lab.process({ now: () => new Date(Date.now() + 7 * 24 * 3_600_000) });
    const orderId = await lab.order(process);
    lab.provider.set({ aheadMs: 7 * 24 * 3_600_000 });
    lab.provider.pay(orderId, '1');
    await fast.work();
    expect(await lab.types(orderId)).toEqual(['order.created.v1', 'order.deposit_received.v1']);
  });

  it('makes no call during an outage of the provider, and loses nothing', async () => {
    const ids = await Promise.all(Array.from({ length: 50 }, () => lab.order(process)));
    for (const id of ids) lab.provider.pay(id, '100');
    lab.provider.set({ isUnavailable: true });
    for (let round = 0; round < 20; round += 1) {
      await lab.makeDue();
      await process.work();
    }
    // A thousand times an order was due.
    expect(lab.provider.count('status')).toBeLessThan(100);
    lab.provider.set({ isUnavailable: false });
    for (const id of ids) await until(id, 'completed');
  });

  it('does not take an order that another process holds, until its lease is over', async () => {
    const orderId = await lab.order(process);
    let release = (): void => undefined;
    let requested = 0;
    const gate = new Promise<void>((resolve) => (release = resolve));
    lab.provider.set({ beforeStatus: () => ((requested += 1) === 1 ? gate : undefined) });
    lab.provider.pay(orderId, '100');
    const slow = process.work();
    await eventually(() => requested === 1);
    const other = lab.process();
    await other.work();
    expect(requested).toBe(1);
    expect((await lab.row(orderId))['seconds']).toBeGreaterThan(1);
    await lab.makeDue();
    await until(orderId, 'completed', other);
    // It wakes up, and has nothing to add.
    release();
    await slow;
    expect(await lab.types(orderId)).toEqual(COMPLETED);
  });

  it('polls again when a reason arises during the poll', async () => {
    const orderId = await lab.order(process);
    const beforeStatus = async (): Promise<void> => {
      lab.provider.set({ beforeStatus: () => undefined });
      await lab.db.database.transaction((tx) => wakeWatches(tx, [orderId]));
    };
    lab.provider.set({ beforeStatus });
    await process.work();
    expect((await lab.row(orderId))['is_due']).toBe(true);
    await process.work();
    expect(lab.provider.count('status')).toBe(2);
  });

  it('polls an order with a reason first, however many are due', async () => {
    for (let n = 0; n < 25; n += 1) await lab.order(process);
    const orderId = await lab.order(process);
    await lab.db.database.transaction((tx) => wakeWatches(tx, [orderId]));
    const claim = async (limit: number) =>
      (await lab.items.claim({ kind: WATCH, limit, leaseMs: 30_000, lines: [0, 1] })).items;
    expect((await claim(1)).map(({ key }) => key)).toEqual([orderId]);
    expect(await claim(100)).toHaveLength(25);
  });

  it('wakes an order that is no longer polled', async () => {
    const orderId = await lab.order(process);
    await lab.db.database.query('delete from work.items');
    await process.work();
    expect(lab.provider.count('status')).toBe(0);
    await lab.db.database.transaction((tx) => wakeWatches(tx, [orderId, randomUUID()]));
    await process.work();
    expect(lab.provider.count('status')).toBe(1);
  });

  it('delays no order for another that cannot be polled', async () => {
    const [bad, good] = [await lab.order(process), await lab.order(process)];
    const beforeStatus = (id: string): void => {
      if (id === bad) throw new Error('a bug');
    };
    lab.provider.set({ beforeStatus });
    lab.provider.pay(good, '100');
    await until(good, 'completed');
    expect((await lab.row(bad))['failures']).toBeGreaterThan(0);
    expect(await lab.watches.totals()).toMatchObject({ open: { pending: 1 }, refundable: 0 });
  });
});
