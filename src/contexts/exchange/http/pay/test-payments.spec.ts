import { describe, expect, it } from '@jest/globals';
import type { OrderFacts } from '../../domain/order-events.js';
import { order, type ExistingOrder } from '../../domain/order.js';
import { TestPayments } from './test-payments.js';

const stateOf = (facts: Partial<OrderFacts> = {}): ExistingOrder =>
  order.evolve(order.initial, {
    type: 'order.created.v1',
    data: {
      order_id: 'o',
      provider: 'sandbox',
      deposit_address: '0x1',
      amount_from: '100',
      ...facts,
    } as OrderFacts,
  }) as ExistingOrder;
const DEV = { mode: 'sandbox', chainId: 31337 } as const;

function started(config: ConstructorParameters<typeof TestPayments>[0] = DEV) {
  const sent: [string, bigint][] = [];
  const transfer = (to: string, amount: bigint): Promise<string> => {
    sent.push([to, amount]);
    return Promise.resolve('0xhash');
  };
  return { sent, payments: new TestPayments(config, { transfer }) };
}

describe('test payments', () => {
  it('pay what is missing of an order, to its deposit address', async () => {
    const { sent, payments } = started();
    const deposits = [{ deposit_id: 'd', amount: '40.5', transaction_hash: '0x', deposited_at: '' }];
    await payments.pay({ ...stateOf(), deposits });
    expect([payments.areOffered, sent]).toEqual([true, [['0x1', 59_500_000n]]]);
  });

  it('are not offered in production, and not on another chain than the dev chain', async () => {
    for (const config of [
      { mode: 'production', chainId: 31337 },
      { mode: 'sandbox', chainId: 1 },
    ] as const) {
      const { sent, payments } = started(config);
      await expect(payments.pay(stateOf())).rejects.toMatchObject({ code: 'not_found' });
      expect([payments.areOffered, sent]).toEqual([false, []]);
    }
    const without = new TestPayments(DEV);
    expect(without.areOffered).toBe(false);
    await expect(without.pay(stateOf())).rejects.toMatchObject({ code: 'not_found' });
  });

  it('are for orders of the sandbox that are open', async () => {
    const { sent, payments } = started();
    await expect(payments.pay(stateOf({ provider: 'sideshift' }))).rejects.toMatchObject({
      code: 'not_found',
    });
    for (const status of ['processing', 'completed', 'cancelled', 'expired', 'failed', 'refunded'] as const)
      await expect(payments.pay({ ...stateOf(), status })).rejects.toMatchObject({
        code: 'invalid_transition',
      });
    expect(sent).toEqual([]);
  });
});
