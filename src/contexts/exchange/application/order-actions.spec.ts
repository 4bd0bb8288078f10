import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../../test/support/eventually.js';
import { OrderLab, type OrderProcess } from '../../../../test/support/order-lab.js';
import type { DomainError } from '../../../kernel/domain-error.js';

describe('use cases of orders', () => {
  let lab: OrderLab;
  let process: OrderProcess;

  beforeAll(async () => {
    lab = await OrderLab.open();
  });
  beforeEach(() => {
    lab.provider.set({ isUnavailable: false, beforeStatus: () => undefined });
    lab.provider.calls.length = 0;
    process = lab.process();
  });
  afterAll(() => lab.db.drop());

  const refusal = (code: DomainError['code']) => expect.objectContaining({ name: 'DomainError', code });

  it('make one order of a request that is repeated, with one address', async () => {
    const key = randomUUID();
    const first = await process.create.execute(lab.creation(key));
    const again = await lab.process().create.execute(lab.creation(key));
    expect(again.facts).toEqual(first.facts);
    expect(first.facts.caller).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.stringify(first)).not.toContain('192.0.2.1');
    const known = lab.provider.orders.size;
    await process.create.execute(lab.creation(randomUUID()));
    expect(lab.provider.orders.size).toBe(known + 1);
  });

  it('make none while the provider is unavailable', async () => {
    lab.provider.set({ isUnavailable: true });
    await expect(process.create.execute(lab.creation(randomUUID()))).rejects.toEqual(
      expect.objectContaining({ code: 'unavailable', retryAfterSeconds: expect.any(Number) }),
    );
  });

  it('ask the provider once for all who refresh at the same time', async () => {
    const orderId = await lab.order(process);
    lab.provider.pay(orderId, '100');
    lab.provider.calls.length = 0;
    const displayed = await Promise.all(
      Array.from({ length: 50 }, () => process.refresh.execute(lab.refreshment(orderId))),
    );
    expect(displayed.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 'processing'));
    expect(lab.provider.count('status')).toBe(1);
  });

  it('display an order only to the key that created it', async () => {
    const orderId = await lab.order(process);
    for (const [id, keyId] of [
      [orderId, randomUUID()],
      [randomUUID(), lab.keyId],
      ['1 or 1', lab.keyId],
    ] as const)
      await expect(process.refresh.execute(lab.refreshment(id, keyId))).rejects.toEqual(refusal('not_found'));
  });

  it('cancel no order with a deposit that is there, pending or possible', async () => {
    const [paid, awaited, unknown] = [
      await lab.order(process),
      await lab.order(process),
      await lab.order(process),
    ];
    lab.provider.pay(paid, '100');
    lab.provider.order(awaited).isDepositPending = true;
    await expect(process.cancel.execute(lab.cancellation(paid))).rejects.toEqual(
      refusal('invalid_transition'),
    );
    expect((await lab.state(paid)).status).toBe('processing');
    await expect(process.cancel.execute(lab.cancellation(awaited))).rejects.toEqual(
      refusal('invalid_transition'),
    );
    lab.provider.set({ isUnavailable: true });
    await expect(process.cancel.execute(lab.cancellation(unknown))).rejects.toEqual(refusal('unavailable'));
    expect((await lab.state(unknown)).status).toBe('pending');
    lab.provider.set({ isUnavailable: false });
    expect((await process.cancel.execute(lab.cancellation(unknown))).status).toBe('cancelled');
  });

  it('refresh to 503 while the provider is unavailable, and show what has ended all the same', async () => {
    const orderId = await lab.order(process);
    lab.provider.set({ isUnavailable: true });
    await expect(process.refresh.execute(lab.refreshment(orderId))).rejects.toEqual(refusal('unavailable'));
    lab.provider.set({ isUnavailable: false });
    await process.cancel.execute(lab.cancellation(orderId));
    lab.provider.set({ isUnavailable: true });
    expect((await process.refresh.execute(lab.refreshment(orderId))).status).toBe('cancelled');
  });

  it('make no call during an outage of the provider, and one when it may be over', async () => {
    const ids = await Promise.all(Array.from({ length: 30 }, () => lab.order(process)));
    const refreshAll = () =>
      Promise.allSettled(ids.map((id) => process.refresh.execute(lab.refreshment(id))));
    lab.provider.set({ isUnavailable: true });
    for (const id of ids)
      await expect(process.refresh.execute(lab.refreshment(id))).rejects.toEqual(refusal('unavailable'));
    expect(lab.provider.count('status')).toBeLessThan(10);
    const requested = await eventually(async () => {
      const before = lab.provider.count('status');
      await refreshAll();
      return lab.provider.count('status') - before || null;
    });
    expect(requested).toBe(1);
    lab.provider.set({ isUnavailable: false });
    await eventually(async () => (await refreshAll()).every(({ status }) => status === 'fulfilled'));
  });

  it('believe no provider that returns impossible values', async () => {
    const orderId = await lab.order(process);
    const { deposits } = lab.provider.order(orderId);
    for (const amount of ['-5', '1e9', 'NaN', ''])
      for (const at of [new Date().toISOString(), 'yesterday']) {
        deposits.splice(0, 1, { id: '1', amount, transactionHash: '0x', at });
        await expect(process.poller.poll(orderId)).rejects.toThrow('returned impossible values');
      }
    expect(await lab.types(orderId)).toEqual(['order.created.v1']);
  });
});
