import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { describeExchangeProvider } from '../../../../test/conformance/exchange-provider.conformance.js';
import {
  ADDRESS,
  UNAVAILABLE,
  LATER,
  SideShiftHarness,
  requested,
} from '../../../../test/support/exchange/sideshift/sideshift-harness.js';
import { ShiftBook } from '../../../../test/support/exchange/sideshift/shift-book.js';
import type { SideShift } from '../../../../test/support/exchange/sideshift/sideshift.js';
import { ProviderRefused } from '../../../platform/outbound/provider-errors.js';
import type { NewProviderOrder } from './exchange-provider.ports.js';

const FIVE_MINUTES = 5 * 60_000;

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

describe('an order at SideShift', () => {
  it('is a fixed-rate shift for exactly the requested amount', async () => {
    const { order, shiftId } = await newOrder({ amount_from: '50.10' });
    expect(order).toMatchObject({
      amount_from: '50.1',
      minimum: '50.1',
      maximum: '50.1',
      amount_to: '0.25668518',
      rate: '0.005123456789',
      deposit_address_tag: null,
    });
    const { settleAddress, externalId, depositAddress } = sideshift.book.find(shiftId);
    expect(settleAddress).toBe(ADDRESS);
    expect(depositAddress).toBe(order.deposit_address);
    expect(externalId).toBeDefined();
    const minutes = (Date.parse(order.expires_at) - sideshift.now()) / 60_000;
    expect(Math.round(minutes)).toBe(15);
  });

  it('has a deposit memo or tag on chains that need one', async () => {
    const { order } = await newOrder({ pair_id: 'XRPSOL' });
    expect(order.deposit_address_tag).toMatch(/^\d+$/);
  });

  it('is requested with the address of the caller, unless the address is private', async () => {
    sideshift.deniedAddress = '185.143.234.1';
    await expect(newOrder({ caller_address: '185.143.234.1' })).rejects.toMatchObject({ parameter: null });
    await expect(newOrder({ caller_address: '::ffff:185.143.234.1' })).rejects.toBeInstanceOf(
      ProviderRefused,
    );
    for (const address of ['10.0.0.1', '::1', '100.64.0.1', 'unix:', '1.1.1.1\r\nx-a: b'])
      await newOrder({ caller_address: address });
    sideshift.demandsUserIp = true;
    // No outage: one caller without a public address must not pause the orders of all others.
    await expect(newOrder({ caller_address: '10.0.0.1' })).rejects.toBeInstanceOf(ProviderRefused);
    await newOrder({ caller_address: '8.8.8.8' });
  });
});

describe('a refusal by SideShift', () => {
  it.each<[string, Partial<NewProviderOrder>, object]>([
    ['an unknown pair', { pair_id: 'BTCSOL' }, { parameter: 'pair_id' }],
    ['a SideShift address', { withdraw_address: ShiftBook.OWN_ADDRESS }, { parameter: 'withdraw_address' }],
    ['a malformed address', { withdraw_address: 'x' }, { parameter: 'withdraw_address' }],
    ['a memo', { withdraw_address_memo: '1' }, { parameter: 'withdraw_address_memo' }],
    ['a tag', { withdraw_address_tag: '1' }, { parameter: 'withdraw_address_tag' }],
  ])('names the parameter: %s', (_, over, error) => expect(newOrder(over)).rejects.toMatchObject(error));

  it('counts as temporary if the cause is a rate limit', async () => {
    sideshift.faults = [{ status: 429, body: '{}' }];
    await expect(newOrder()).rejects.toMatchObject(LATER);
    await newOrder();
  });

  it('counts as temporary if the quote expired before the order was created', async () => {
    sideshift.lie = (reported, request) => {
      if (request === 'POST /quotes') sideshift.advance(16 * 60_000);
      return reported;
    };
    await expect(newOrder()).rejects.toMatchObject(LATER);
  });

  it('counts as an outage if SideShift rejects the account', async () => {
    const wrong = harness.process({ sideshiftSecret: 'another-key' });
    await expect(wrong.create(requested())).rejects.toMatchObject(UNAVAILABLE);
    const other = harness.process({ sideshiftAffiliateId: 'somebody' });
    await expect(other.quote('USDCSOL', null)).rejects.toMatchObject(UNAVAILABLE);
  });
});

describe('a shift at SideShift', () => {
  it('is paid out after a deposit of exactly the requested amount', async () => {
    const { order, shiftId } = await newOrder();
    const deposit = sideshift.book.receive(shiftId, order.amount_from);
    expect(await provider.status(order)).toMatchObject({ deposits: [], isDepositPending: true });
    deposit.status = 'processing';
    const [first] = (await provider.status(order)).deposits;
    expect(first).toMatchObject({ amount: '100', transaction_hash: deposit.depositHash });
    for (const status of ['review', 'settling'] as const) {
      deposit.status = status;
      expect(await provider.status(order)).toMatchObject({ deposits: [first], outcome: null });
    }
    sideshift.book.process(shiftId, deposit);
    const { outcome, deposits, isDepositPending } = await provider.status(order);
    expect(deposits).toEqual([first]);
    expect(isDepositPending).toBe(false);
    expect(outcome).toEqual({
      kind: 'completed',
      transactionHash: deposit.settleHash,
      amountTo: order.amount_to,
    });
  });

  it.each([
    ['a deposit of too little', '99.999999'],
    ['a deposit of too much', '100.000001'],
  ])('waits for a refund address after %s and is then refunded', async (_, amount) => {
    const { order, shiftId } = await newOrder();
    const deposit = sideshift.book.receive(shiftId, amount);
    sideshift.book.process(shiftId, deposit);
    expect(await provider.status(order)).toMatchObject({
      deposits: [{ amount }],
      outcome: { kind: 'failed', reason: 'refund_address_needed' },
    });
    deposit.status = 'refunding';
    expect((await provider.status(order)).outcome).toBeNull();
    sideshift.book.refund(deposit);
    expect((await provider.status(order)).outcome).toEqual({
      kind: 'refunded',
      transactionHash: deposit.settleHash,
    });
  });

  it('is paid out once after two deposits, and both are listed', async () => {
    const { order, shiftId } = await newOrder();
    sideshift.pay(shiftId, '100');
    const before = await provider.status(order);
    const second = sideshift.book.receive(shiftId, '100');
    expect(await provider.status(order)).toEqual({
      ...before,
      isDepositPending: true,
      completeUntil: expect.any(String),
    });
    sideshift.book.process(shiftId, second);
    const after = await provider.status(order);
    expect(after.deposits).toHaveLength(2);
    expect(after.deposits[0]).toEqual(before.deposits[0]);
    expect(after.outcome).toEqual(before.outcome);
  });

  it('has no outcome after the expiry, even if SideShift no longer returns the deposit address', async () => {
    const { order } = await newOrder();
    sideshift.advance(60 * 60_000);
    sideshift.lie = (reported) => ({ ...reported, depositAddress: null });
    expect(await provider.status(order)).toMatchObject({
      deposits: [],
      isDepositPending: false,
      outcome: null,
      completeUntil: expect.stringMatching(/Z$/),
    });
  });

  it('has a complete list of deposits only up to a minute ago, because a later transfer may be missing', async () => {
    const { order } = await newOrder();
    const listing = harness.process({}, { listedAfterMs: 60_000 });
    const before = sideshift.now();
    const { completeUntil } = await listing.status(order);
    expect(Date.parse(completeUntil!)).toBeGreaterThanOrEqual(before - 60_000);
    expect(Date.parse(completeUntil!)).toBeLessThanOrEqual(sideshift.now() - 60_000);
  });
});

describe('cancelling a shift', () => {
  it('is refused in the first five minutes, as SideShift demands; later it succeeds and can be repeated', async () => {
    const { order, shiftId } = await newOrder();
    await expect(provider.cancel(order)).rejects.toMatchObject(LATER);
    sideshift.advance(FIVE_MINUTES);
    await provider.cancel(order);
    await provider.cancel(order);
    expect(sideshift.book.find(shiftId).expiresAt).toBeLessThanOrEqual(sideshift.now());
    sideshift.advance(1);
    sideshift.pay(shiftId, '100');
    expect((await provider.status(order)).outcome).toMatchObject({ kind: 'failed' });
  });

  it('has no effect on a shift with a deposit', async () => {
    const { order, shiftId } = await newOrder();
    sideshift.pay(shiftId, '100');
    sideshift.advance(FIVE_MINUTES);
    await provider.cancel(order);
    expect((await provider.status(order)).outcome).toMatchObject({ kind: 'completed' });
  });
});

describeExchangeProvider('SideShift', async () => {
  const own = await SideShiftHarness.start();
  return {
    open: () => Promise.resolve(own.process()),
    pairId: 'USDCSOL',
    withdrawAddress: ADDRESS,
    isSettledByUs: false,
    pay: ({ provider_reference: shiftId }, amount) => Promise.resolve(own.sideshift.pay(shiftId, amount)),
    startOutage: () => own.sideshift.shutDown(),
    endOutage: () => own.sideshift.restart(),
    cleanUp: () => own.stop(),
  };
});
