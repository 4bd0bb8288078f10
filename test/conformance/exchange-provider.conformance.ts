import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ProviderRefused, ProviderUnavailable } from '../../src/platform/outbound/provider-errors.js';
import type {
  ExchangeProvider,
  NewProviderOrder,
  ProviderReference,
  ProviderStatus,
} from '../../src/contexts/exchange/providers/exchange-provider.ports.js';
import type { ProviderOrder } from '../../src/contexts/exchange/orders/order-events.js';
import { isAtLeast, sum } from '../../src/kernel/decimal.js';
import { newId } from '../../src/kernel/ids.js';
import { eventually } from '../support/eventually.js';

/** Opens the provider under test and controls its environment. */
interface ProviderUnderTest {
  /** The provider of another process. */
  open(): Promise<ExchangeProvider>;
  readonly pairId: string;
  readonly withdrawAddress: string;
  /** True where it pays out only after `settle`. */
  readonly isSettledByUs: boolean;
  /** Sends an amount to the deposit address of an order, as a customer would. */
  pay(order: ProviderOrder, amount: string): Promise<void>;
  /** Stops a dependency of the provider. The result restores it. */
  startOutage(): Promise<void>;
  endOutage(): Promise<void>;
  cleanUp(): Promise<void>;
}

const NOTHING = { deposits: [], isDepositPending: false, outcome: null };

/** The behaviour of every exchange provider. */
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
    const newOrder = async (): Promise<{ order: ProviderOrder; reference: ProviderReference }> => {
      const given = requested();
      const order = await provider.create(given);
      const { provider_reference } = order;
      return { order, reference: { order_id: given.order_id, provider_reference } };
    };
    const until = (
      reference: ProviderReference,
      found: (status: ProviderStatus) => boolean,
    ): Promise<ProviderStatus> =>
      eventually(async () => {
        const status = await provider.status(reference);
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

    it('opens one order, however often it is requested, even from two processes at once', async () => {
      const order = requested();
      const other = await under.open();
      const [first, ...others] = await Promise.all([
        provider.create(order),
        other.create(order),
        provider.create(order),
      ]);
      expect(others).toEqual([first, first]);
      expect(await other.create(order)).toEqual(first);
      const usual = await provider.quote(under.pairId, null);
      const { amount_from, amount_to, rate } = usual;
      expect(first).toMatchObject({ amount_from, amount_to, rate });
      // An order may be narrower than its pair.
      const { minimum, maximum } = first!;
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
      const { reference } = await newOrder();
      expect(await provider.status(reference)).toMatchObject(NOTHING);
      await until(reference, ({ completeUntil }) => Date.parse(completeUntil ?? '') >= before);
    });

    it('reports each deposit under one permanent id', async () => {
      const { order, reference } = await newOrder();
      await under.pay(order, order.minimum);
      const one = await until(reference, ({ deposits }) => deposits.length > 0);
      await under.pay(order, order.amount_from);
      const two = await until(reference, ({ deposits }) => deposits.length > 1);
      expect(two.deposits[0]).toEqual(one.deposits[0]);
      expect(two.deposits.map(({ amount }) => amount)).toEqual([order.minimum, order.amount_from]);
      expect(new Set(two.deposits.map(({ deposit_id }) => deposit_id)).size).toBe(2);
      expect((await provider.status(reference)).deposits).toEqual(two.deposits);
    });

    it('pays out once, however often the order is settled', async () => {
      const { order, reference } = await newOrder();
      await under.pay(order, order.amount_from);
      const { deposits } = await until(reference, (status) => status.deposits.length > 0);
      const received = sum(deposits.map(({ amount }) => amount));
      const settlement = { ...reference, amount_from: received, amount_to: order.amount_to };
      await Promise.all([provider.settle(settlement), provider.settle(settlement)]);
      const { outcome } = await until(reference, (status) => status.outcome !== null);
      expect(outcome).toMatchObject({ kind: 'completed', transactionHash: expect.any(String) });
      await provider.settle({ ...settlement, amount_to: '999' });
      expect((await provider.status(reference)).outcome).toEqual(outcome);
    });

    it('reports a deposit to a cancelled order and does not exchange it', async () => {
      if (!under.isSettledByUs) return;
      const { order, reference } = await newOrder();
      await provider.cancel(reference);
      await provider.cancel(reference);
      await under.pay(order, order.amount_from);
      const { outcome } = await until(reference, ({ deposits }) => deposits.length > 0);
      expect(outcome).toBeNull();
      await expect(provider.settle({ ...order, ...reference })).rejects.toThrow();
      expect((await provider.status(reference)).outcome).toBeNull();
    });

    it('completes an order that is cancelled after it was paid out', async () => {
      if (!under.isSettledByUs) return;
      const { order, reference } = await newOrder();
      await provider.settle({ ...order, ...reference });
      await provider.cancel(reference);
      await until(reference, ({ outcome }) => outcome?.kind === 'completed');
    });

    it('throws ProviderUnavailable during an outage, and creates and reports orders afterwards', async () => {
      const { order, reference } = await newOrder();
      const fresh = requested();
      const isUp = (): Promise<boolean> =>
        provider.ping().then(
          () => true,
          () => false,
        );
      await under.startOutage();
      try {
        await eventually(async () => !(await isUp()));
        await expect(provider.status(reference)).rejects.toBeInstanceOf(ProviderUnavailable);
        await expect(provider.create(fresh)).rejects.toBeInstanceOf(ProviderUnavailable);
        const settling = under.isSettledByUs ? provider.settle({ ...order, ...reference }) : null;
        if (settling !== null) await expect(settling).rejects.toBeInstanceOf(ProviderUnavailable);
        await expect(provider.cancel(reference)).rejects.toBeInstanceOf(ProviderUnavailable);
      } finally {
        await under.endOutage();
      }
      await eventually(isUp);
      const again = await provider.create(fresh);
      expect(await provider.create(fresh)).toEqual(again);
      await under.pay(order, order.amount_from);
      await until(reference, ({ deposits }) => deposits.length === 1);
    });
  });
}
