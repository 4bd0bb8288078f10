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

describe('false data from SideShift', () => {
  it.each<[string, object]>([
    ['another deposit coin', { depositCoin: 'USDT' }],
    ['another payout coin', { settleCoin: 'BTC' }],
    ['another payout address', { settleAddress: ShiftBook.OWN_ADDRESS }],
    ['a rate that is not fixed', { type: 'variable' }],
    ['a larger deposit amount', { depositAmount: '101' }],
    ['a smaller payout', { settleAmount: '0.1' }],
    ['no deposit address', { depositAddress: null }],
    ['a deposit address of another chain', { depositAddress: 'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh' }],
    ['no expiry', { expiresAt: 'soon' }],
    ['an id that is a path', { id: '../account' }],
  ])('raises a contradiction if a new shift has %s', async (_, lie) => {
    sideshift.lie = (reported, request) =>
      request === 'POST /shifts/fixed' ? { ...reported, ...lie } : reported;
    await expect(newOrder()).rejects.toMatchObject(CONTRADICTION);
  });

  it.each<[string, object]>([
    ['another amount', { depositAmount: '1' }],
    ['another coin', { settleCoin: 'ETH' }],
    ['a payout of 0', { settleAmount: '0' }],
  ])('raises a contradiction, and opens no shift, if a quote has %s', async (_, lie) => {
    sideshift.lie = (reported, request) => (request === 'POST /quotes' ? { ...reported, ...lie } : reported);
    await expect(newOrder()).rejects.toMatchObject(CONTRADICTION);
    expect(harness.opened).toBe(0);
  });

  it('raises a contradiction if the rate of a quote is infinite', async () => {
    sideshift.lie = (reported) => ({ ...reported, rate: 'Infinity' });
    await expect(provider.quote('USDCSOL', null)).rejects.toMatchObject(CONTRADICTION);
  });

  it.each<[string, object]>([
    ['another shift', { id: 'ffffffffffffffffffff' }],
    ['another deposit address', { depositAddress: '0x52908400098527886E0F7030069857D2E4169EE7' }],
    ['a new memo', { depositMemo: '7' }],
    ['another payout address', { settleAddress: ShiftBook.OWN_ADDRESS }],
    ['another coin', { depositCoin: 'USDT' }],
    ['a smaller deposit', { depositAmount: '99' }],
    ['a payout without a hash', { settleHash: null }],
  ])('raises a contradiction as long as a paid shift has %s', async (_, lie) => {
    const { order, shiftId } = await newOrder();
    sideshift.pay(shiftId, '100');
    sideshift.lie = (reported) => ({ ...reported, ...lie });
    await expect(provider.status(order)).rejects.toMatchObject(CONTRADICTION);
    sideshift.lie = (reported) => reported;
    expect((await provider.status(order)).outcome).toMatchObject({ kind: 'completed' });
  });

  it.each<[string, object]>([
    ['the status waiting', { status: 'waiting' }],
    ['the status expired', { status: 'expired' }],
    ['another deposit', { depositHash: `0x${'1'.repeat(64)}` }],
  ])('raises a contradiction as long as a shift with a recorded deposit has %s', async (_, lie) => {
    const { order, shiftId } = await newOrder();
    sideshift.pay(shiftId, '100');
    const recorded = factsOf(await provider.status(order));
    sideshift.lie = (truth) => ({ ...truth, ...lie });
    await expect(provider.status(order, recorded)).rejects.toMatchObject(CONTRADICTION);
    sideshift.lie = (truth) => truth;
    expect((await provider.status(order, recorded)).outcome).toMatchObject({ kind: 'completed' });
  });

  it('raises a contradiction if the amount of a recorded deposit decreases', async () => {
    const { order, shiftId } = await newOrder();
    sideshift.pay(shiftId, '99');
    const recorded = factsOf(await provider.status(order));
    sideshift.lie = (reported) => ({ ...reported, depositAmount: '9' });
    await expect(provider.status(order, recorded)).rejects.toMatchObject(CONTRADICTION);
  });

  it('raises a contradiction if a new shift lacks the memo that its chain requires', async () => {
    sideshift.lie = ({ depositMemo: _, ...reported }) => reported;
    await expect(newOrder({ pair_id: 'XRPSOL' })).rejects.toMatchObject(CONTRADICTION);
  });
});

describe('an unreliable SideShift', () => {
  it.each(['reset', 'hang', { status: 500, body: '<html>' }, { status: 502, body: '' }] as const)(
    'counts as unavailable after %j, and the order keeps its status',
    async (fault) => {
      const { order } = await newOrder();
      sideshift.faults = [fault];
      await expect(harness.process({}, { timeoutMs: 500 }).status(order)).rejects.toMatchObject(UNAVAILABLE);
      expect((await provider.status(order)).outcome).toBeNull();
    },
  );

  it.each([
    { status: 200, body: '[]' },
    { status: 200, body: 'null' },
    { status: 200, body: '{' },
  ] as const)('is reported as a contradiction after %j', async (fault) => {
    const { order } = await newOrder();
    sideshift.faults = [fault];
    await expect(provider.status(order)).rejects.toMatchObject(CONTRADICTION);
  });

  it('causes errors that contain no address and no secret', async () => {
    const { secret, error } = { secret: sideshift.account.sideshiftSecret, error: `${ADDRESS} is bad` };
    sideshift.faults = [{ status: 400, body: JSON.stringify({ error: { message: error } }) }];
    const thrown = await provider.create(requested()).catch((cause: unknown) => cause);
    expect(thrown).toBeInstanceOf(ProviderRefused);
    expect(JSON.stringify([thrown, (thrown as Error).message])).not.toMatch(
      new RegExp(`${ADDRESS}|${secret}`),
    );
  });
});
