import { describe, expect, it } from '@jest/globals';
import {
  created,
  deposit,
  facts,
  received,
  stateAfter,
} from '../../../../test/support/exchange/order-fixtures.js';
import type { OrderFacts } from '../orders/order-events.js';
import type { ExistingOrder } from '../orders/order.js';
import { TestPayments } from './pay-page.controller.js';
import { chainConfig } from '../../../platform/config/config.js';

const stateOf = (more: Partial<OrderFacts> = {}): ExistingOrder =>
  stateAfter({ type: 'order.created.v1', data: { ...facts, ...more } });
const DEV = chainConfig({});

function started(config: ConstructorParameters<typeof TestPayments>[0] = DEV) {
  const sent: [string, bigint][] = [];
  const transfer = (to: string, amount: bigint): Promise<string> => {
    sent.push([to, amount]);
    return Promise.resolve('0xhash');
  };
  return { sent, payments: new TestPayments(config, { transfer }) };
}

describe('test payments', () => {
  it('pay the missing amount of an order to its deposit address', async () => {
    const { sent, payments } = started();
    await payments.pay(stateAfter(created, received(deposit('d', '40.5'))));
    expect([payments.areOffered, sent]).toEqual([true, [[facts.deposit_address, 59_500_000n]]]);
  });

  it('are not offered in production, and not on another chain than the dev chain', async () => {
    for (const config of [
      { ...DEV, mode: 'production' },
      { ...DEV, chainId: 1 },
    ] as const) {
      const { sent, payments } = started(config);
      await expect(payments.pay(stateOf())).rejects.toMatchObject({ code: 'not_found' });
      expect([payments.areOffered, sent]).toEqual([false, []]);
    }
    const without = new TestPayments(DEV);
    expect(without.areOffered).toBe(false);
    await expect(without.pay(stateOf())).rejects.toMatchObject({ code: 'not_found' });
  });

  it('are refused for orders of other providers and for orders that are not open', async () => {
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
