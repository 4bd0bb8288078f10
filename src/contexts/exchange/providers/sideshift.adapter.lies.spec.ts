import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  ADDRESS,
  UNAVAILABLE,
  CONTRADICTION,
  SideShiftHarness,
  requested,
} from '../../../../test/support/exchange/sideshift/sideshift-harness.js';
import { ShiftBook } from '../../../../test/support/exchange/sideshift/shift-book.js';
import type { SideShift } from '../../../../test/support/exchange/sideshift/sideshift.js';
import { newId } from '../../../kernel/ids.js';
import type { ProviderStatus } from './exchange-provider.ports.js';
import type { DepositFacts } from '../orders/order-events.js';
import { ProviderRefused } from '../../../platform/outbound/provider-errors.js';

let harness: SideShiftHarness;
let sideshift: SideShift;
let provider: SideShiftHarness['provider'];
beforeAll(async () => {
  harness = await SideShiftHarness.start();
  ({ sideshift, provider } = harness);
});
afterAll(() => harness?.stop());
beforeEach(() => sideshift.recover());

const newOrder: SideShiftHarness['newOrder'] = (over) => harness.newOrder(over);

/** The deposits as events record them. */
const factsOf = ({ deposits }: ProviderStatus): DepositFacts[] =>
  deposits.map(({ claim: _, ...facts }) => facts);

describe('a SideShift that returns false data', () => {
  it.each<[string, object]>([
    ['another coin', { depositCoin: 'USDT' }],
    ['something else that it pays out', { settleCoin: 'BTC' }],
    ['another address that it pays out to', { settleAddress: ShiftBook.OWN_ADDRESS }],
    ['a rate that is not fixed', { type: 'variable' }],
    ['more to be sent', { depositAmount: '101' }],
    ['less to be paid out', { settleAmount: '0.1' }],
    ['no deposit address', { depositAddress: null }],
    ['a deposit address of another chain', { depositAddress: 'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh' }],
    ['no expiry', { expiresAt: 'soon' }],
    ['an expiry in years', { expiresAt: '2099-01-01T00:00:00Z' }],
    ['an id that leads elsewhere', { id: '../account' }],
  ])('opens no order for a new shift with %s', async (_, lie) => {
    sideshift.lie = (reported, request) =>
      request === 'POST /shifts/fixed' ? { ...reported, ...lie } : reported;
    const order = requested();
    await expect(provider.create(order)).rejects.toMatchObject(CONTRADICTION);
    expect(await harness.shifts.find(order.order_id)).toBeNull();
  });

  it.each<[string, object]>([
    ['another amount', { depositAmount: '1' }],
    ['another coin', { settleCoin: 'ETH' }],
    ['a rate that its amounts do not have', { rate: '0.006' }],
    ['nothing to be paid out', { settleAmount: '0' }],
  ])('opens no order for a quote with %s', async (_, lie) => {
    sideshift.lie = (reported, request) => (request === 'POST /quotes' ? { ...reported, ...lie } : reported);
    await expect(newOrder()).rejects.toMatchObject(CONTRADICTION);
    expect(harness.opened).toBe(0);
  });

  it.each<[string, object]>([
    ['limits that are none', { min: '9', max: '1' }],
    ['a rate that is none', { rate: 'Infinity' }],
  ])('quotes no price with %s', async (_, lie) => {
    sideshift.lie = (reported) => ({ ...reported, ...lie });
    await expect(provider.quote('USDCSOL', null)).rejects.toMatchObject(CONTRADICTION);
  });

  it.each<[string, object]>([
    ['another shift', { id: 'ffffffffffffffffffff' }],
    ['another deposit address', { depositAddress: '0x52908400098527886E0F7030069857D2E4169EE7' }],
    ['a memo all of a sudden', { depositMemo: '7' }],
    ['another address that it paid out to', { settleAddress: ShiftBook.OWN_ADDRESS }],
    ['another coin', { depositCoin: 'USDT' }],
    ['a deposit of less', { depositAmount: '99' }],
    ['a deposit from the future', { depositReceivedAt: '2100-01-01T00:00:00Z' }],
    ['a payment without a hash', { settleHash: null }],
    ['more deposits than there can be', { status: 'multiple', deposits: Array(1001).fill({}) }],
  ])('is ignored when a paid shift has %s', async (_, lie) => {
    const { reference, shiftId } = await newOrder();
    sideshift.pay(shiftId, '100');
    sideshift.lie = (reported) => ({ ...reported, ...lie });
    await expect(provider.status(reference)).rejects.toMatchObject(CONTRADICTION);
    sideshift.lie = (reported) => reported;
    expect((await provider.status(reference)).outcome).toMatchObject({ kind: 'completed' });
  });

  it.each<[string, object]>([
    ['that nothing ever came', { status: 'waiting' }],
    ['that it expired', { status: 'expired' }],
    ['that it was another deposit', { depositHash: `0x${'1'.repeat(64)}` }],
  ])('is not believed when it contradicts an earlier status: %s', async (_, lie) => {
    const { reference, shiftId } = await newOrder();
    sideshift.pay(shiftId, '100');
    const recorded = factsOf(await provider.status(reference));
    sideshift.lie = (truth) => ({ ...truth, ...lie });
    await expect(provider.status(reference, recorded)).rejects.toMatchObject(CONTRADICTION);
    sideshift.lie = (truth) => truth;
    expect((await provider.status(reference, recorded)).outcome).toMatchObject({ kind: 'completed' });
  });

  it('is not believed when the amount of a recorded deposit decreases', async () => {
    const { reference, shiftId } = await newOrder();
    sideshift.pay(shiftId, '99');
    const recorded = factsOf(await provider.status(reference));
    sideshift.lie = (reported) => ({ ...reported, depositAmount: '9' });
    await expect(provider.status(reference, recorded)).rejects.toMatchObject(CONTRADICTION);
  });

  it('opens no order for a new shift without the memo that its chain requires', async () => {
    sideshift.lie = ({ depositMemo: _, ...reported }) => reported;
    await expect(newOrder({ pair_id: 'XRPSOL' })).rejects.toMatchObject(CONTRADICTION);
  });

  it('is not called for shifts that were never agreed', async () => {
    const { reference } = await newOrder();
    for (const wrong of [
      { ...reference, order_id: newId() },
      { ...reference, provider_reference: '../account' },
    ])
      for (const call of [() => provider.status(wrong), () => provider.cancel(wrong)])
        await expect(call()).rejects.toMatchObject(CONTRADICTION);
  });
});

describe('an unreliable SideShift', () => {
  it.each(['reset', 'hang', { status: 500, body: '<html>' }, { status: 502, body: '' }] as const)(
    'counts as unavailable after %j, and the order keeps its status',
    async (fault) => {
      const { reference } = await newOrder();
      sideshift.faults = [fault];
      await expect(harness.process({}, { timeoutMs: 500 }).status(reference)).rejects.toMatchObject(
        UNAVAILABLE,
      );
      expect((await provider.status(reference)).outcome).toBeNull();
    },
  );

  it.each([
    { status: 200, body: '[]' },
    { status: 200, body: 'null' },
    { status: 200, body: '{' },
  ] as const)('counts as contradicting itself after %j', async (fault) => {
    const { reference } = await newOrder();
    sideshift.faults = [fault];
    await expect(provider.status(reference)).rejects.toMatchObject(CONTRADICTION);
  });

  it('causes errors without addresses and keys', async () => {
    const { secret, error } = { secret: sideshift.account.sideshiftSecret, error: `${ADDRESS} is bad` };
    sideshift.faults = [{ status: 400, body: JSON.stringify({ error: { message: error } }) }];
    const thrown = await provider.create(requested()).catch((cause: unknown) => cause);
    expect(thrown).toBeInstanceOf(ProviderRefused);
    expect(JSON.stringify([thrown, (thrown as Error).message])).not.toMatch(
      new RegExp(`${ADDRESS}|${secret}`),
    );
  });
});

describe('a stored shift that was changed by SQL', () => {
  const swap = (to: string, from: string): Promise<unknown> =>
    harness.db.pool.query(
      `with other as (delete from exchange.sideshift_shifts where order_id = $2 returning *)
       update exchange.sideshift_shifts shift
       set agreed = other.agreed, mac = other.mac, shift_id = other.shift_id || '-'
       from other where shift.order_id = $1`,
      [to, from],
    );

  it.each<[string, (orderId: string) => Promise<unknown>]>([
    [
      'for another shift',
      (orderId) =>
        harness.db.pool.query(
          `update exchange.sideshift_shifts set agreed = replace(agreed, shift_id, 'another') where order_id = $1`,
          [orderId],
        ),
    ],
    [
      'with the row of another order',
      async (orderId) => swap(orderId, (await newOrder()).reference.order_id),
    ],
  ])('pays no order (%s)', async (_, forge) => {
    const { reference } = await newOrder();
    await forge(reference.order_id);
    sideshift.requests.length = 0;
    await expect(provider.status(reference)).rejects.toThrow('changed outside the service');
    expect(sideshift.requests).toEqual([]);
  });
});
