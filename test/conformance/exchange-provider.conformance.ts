import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ProviderRefused, ProviderUnavailable } from '../../src/platform/outbound/provider-errors.js';
import type {
  AgreedOrder,
  ExchangeProvider,
  NewProviderOrder,
  ProviderStatus,
} from '../../src/contexts/exchange/providers/exchange-provider.ports.js';
import type { ProviderOrder } from '../../src/contexts/exchange/orders/order-events.js';
import { isAtLeast, sum } from '../../src/kernel/decimal.js';
import { newId } from '../../src/kernel/ids.js';
import { eventually } from '../support/eventually.js';

interface ProviderUnderTest {
  /** Opens the provider as another process. */
  open(): Promise<ExchangeProvider>;
  readonly pairId: string;
  readonly withdrawAddress: string;
  /** True if it pays out only after `settle`. */
  readonly isSettledByUs: boolean;
  /** Sends an amount to the deposit address of an order, like a customer. */
  pay(order: ProviderOrder, amount: string): Promise<void>;
  /** Stops a dependency of the provider until `endOutage`. */
  startOutage(): Promise<void>;
  endOutage(): Promise<void>;
  cleanUp(): Promise<void>;
}

const NOTHING = { deposits: [], isDepositPending: false, outcome: null };

export function describeExchangeProvider(name: string, prepare: () => Promise<ProviderUnderTest>): void {
  describe(`${name} as a provider of the exchange`, () => {
    let under: ProviderUnderTest;
    let provider: ExchangeProvider;

    beforeAll(async () => {
      under = await prepare();
      provider = await under.open();
    });
    afterAll(() => under.cleanUp());

    const requested = (over: Partial<NewProviderOrder> = {}): NewProviderOrder => ({
      order_id: newId(),
      pair_id: under.pairId,
      amount_from: null,
      withdraw_address: under.withdrawAddress,
      withdraw_address_tag: null,
      withdraw_address_memo: null,
      ...over,
    });
    const newOrder = async (): Promise<AgreedOrder> => {
      const given = requested();
      return { ...given, ...(await provider.create(given)) };
    };
    const until = (order: AgreedOrder, found: (status: ProviderStatus) => boolean): Promise<ProviderStatus> =>
      eventually(async () => {
        const status = await provider.status(order);
        return found(status) && status;
      });

    it('quotes the default amount and any other within its limits', async () => {
      const usual = await provider.quote(under.pairId, null);
      expect(Date.parse(usual.expires_at)).toBeGreaterThan(Date.now());
      const { amount_from, minimum, maximum } = usual;
      expect(isAtLeast(amount_from, minimum) && isAtLeast(maximum, amount_from)).toBe(true);
      for (const amount of [minimum, maximum])
        expect(await provider.quote(under.pairId, amount)).toMatchObject({ amount_from: amount });
      expect(isAtLeast('0', usual.amount_to)).toBe(false);
    });

    it('refuses to quote a malformed amount', async () => {
      for (const amount of ['0', '-5', '1e3', '0.0000000000001', '', ' 100', '9'.repeat(40)])
        await expect(provider.quote(under.pairId, amount)).rejects.toMatchObject({
          code: 'validation_failed',
        });
    });

    it('refuses a pair that it does not have', async () => {
      expect(provider.pairIds).toContain(under.pairId);
      for (const pairId of ['NOSUCHPAIR', 'toString', '']) {
        await expect(provider.quote(pairId, null)).rejects.toBeInstanceOf(ProviderRefused);
        await expect(provider.create(requested({ pair_id: pairId }))).rejects.toMatchObject({
          parameter: 'pair_id',
        });
      }
    });

    it('opens an order on the terms of its quote, or on narrower ones', async () => {
      const usual = await provider.quote(under.pairId, null);
      const { minimum, maximum, ...terms } = await newOrder();
      const { amount_from, amount_to, rate } = usual;
      expect(terms).toMatchObject({ amount_from, amount_to, rate });
      expect(isAtLeast(minimum, usual.minimum) && isAtLeast(amount_from, minimum)).toBe(true);
      expect(isAtLeast(usual.maximum, maximum) && isAtLeast(maximum, amount_from)).toBe(true);
    });

    it('gives each order its own address', async () => {
      const orders = await Promise.all(Array.from({ length: 20 }, () => provider.create(requested())));
      const addresses = orders.map((order) => `${order.deposit_address} ${order.deposit_address_tag}`);
      expect(new Set(addresses).size).toBe(20);
    });

    it('reports no deposit before one arrived and all that arrived until now', async () => {
      const before = Date.now();
      const order = await newOrder();
      expect(await provider.status(order)).toMatchObject(NOTHING);
      await until(order, ({ completeUntil }) => Date.parse(completeUntil ?? '') >= before);
    });

    it('reports each deposit under one permanent id', async () => {
      const order = await newOrder();
      await under.pay(order, order.minimum);
      const one = await until(order, ({ deposits }) => deposits.length > 0);
      await under.pay(order, order.amount_from);
      const two = await until(order, ({ deposits }) => deposits.length > 1);
      expect(two.deposits[0]).toEqual(one.deposits[0]);
      expect(two.deposits.map(({ amount }) => amount)).toEqual([order.minimum, order.amount_from]);
      expect(new Set(two.deposits.map(({ deposit_id }) => deposit_id)).size).toBe(2);
      expect((await provider.status(order)).deposits).toEqual(two.deposits);
    });

    it('pays out once, however often the order is settled', async () => {
      const order = await newOrder();
      await under.pay(order, order.amount_from);
      const { deposits } = await until(order, (status) => status.deposits.length > 0);
      const received = sum(deposits.map(({ amount }) => amount));
      const settlement = { ...order, amount_from: received };
      await Promise.all([provider.settle(settlement), provider.settle(settlement)]);
      const { outcome } = await until(order, (status) => status.outcome !== null);
      expect(outcome).toMatchObject({ kind: 'completed', transactionHash: expect.any(String) });
      await provider.settle({ ...settlement, amount_to: '999' });
      expect((await provider.status(order)).outcome).toEqual(outcome);
    });

    it('reports a deposit to a cancelled order and does not exchange it', async () => {
      if (!under.isSettledByUs) return;
      const order = await newOrder();
      await provider.cancel(order);
      await provider.cancel(order);
      await under.pay(order, order.amount_from);
      const { outcome } = await until(order, ({ deposits }) => deposits.length > 0);
      expect(outcome).toBeNull();
      await expect(provider.settle(order)).rejects.toThrow();
      expect((await provider.status(order)).outcome).toBeNull();
    });

    it('completes an order that is cancelled after it was paid out', async () => {
      if (!under.isSettledByUs) return;
      const order = await newOrder();
      await provider.settle(order);
      await provider.cancel(order);
      await until(order, ({ outcome }) => outcome?.kind === 'completed');
    });

    it('throws ProviderUnavailable during an outage, and creates and reports orders afterwards', async () => {
      const order = await newOrder();
      const fresh = requested();
      const isUp = (): Promise<boolean> =>
        provider.status(order).then(
          () => true,
          () => false,
        );
      await under.startOutage();
      try {
        await eventually(async () => !(await isUp()));
        await expect(provider.status(order)).rejects.toBeInstanceOf(ProviderUnavailable);
        await expect(provider.create(fresh)).rejects.toBeInstanceOf(ProviderUnavailable);
        const settling = under.isSettledByUs ? provider.settle(order) : null;
        if (settling !== null) await expect(settling).rejects.toBeInstanceOf(ProviderUnavailable);
        await expect(provider.cancel(order)).rejects.toBeInstanceOf(ProviderUnavailable);
      } finally {
        await under.endOutage();
      }
      await eventually(isUp);
      await provider.create(fresh);
      await under.pay(order, order.amount_from);
      await until(order, ({ deposits }) => deposits.length === 1);
    });
  });
}
