import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isDecimal } from '../../../../kernel/decimal.js';
import { ProviderUnavailable } from '../../../../platform/outbound/provider-errors.js';
import { observe } from '../../domain/observation.js';
import { order, type ExistingOrder, type Order } from '../../domain/order.js';
import type { DepositFacts, OrderFacts } from '../../domain/order-events.js';
import { pairOf } from '../../domain/catalog.js';
import type { AgreedShift } from '../../store/sideshift-shifts.js';
import { readShift } from './shift.js';
import type { SideShiftObject } from './sideshift-api.js';

const PAIR = pairOf('USDCSOL')!;
const NOW = Date.UTC(2026, 0, 2, 12);
const at = (minutes: number): string => new Date(NOW + minutes * 60_000).toISOString();

const AGREED: AgreedShift = {
  provider_reference: 'f78df8663d4c4d5913b9',
  pair_id: 'USDCSOL',
  created_at: at(0),
  expires_at: at(15),
  amount_from: '100',
  amount_to: '0.51234567',
  minimum: '100',
  maximum: '100',
  rate: '0.0051234567',
  deposit_address: `0x${'a'.repeat(40)}`,
  deposit_address_tag: null,
  withdraw_address: 'So'.padEnd(43, '1'),
};
const SHIFT: SideShiftObject = {
  id: AGREED.provider_reference,
  type: 'fixed',
  createdAt: at(0),
  expiresAt: at(15),
  status: 'settled',
  depositCoin: 'USDC',
  depositNetwork: 'ethereum',
  settleCoin: 'SOL',
  settleNetwork: 'solana',
  depositAddress: AGREED.deposit_address,
  settleAddress: AGREED.withdraw_address,
  depositAmount: '100',
  settleAmount: AGREED.amount_to,
  depositHash: '0xdeposit-1',
  settleHash: 'payment-1',
  depositReceivedAt: at(3),
};
const FACTS = {
  order_id: 'o',
  pair_id: 'USDCSOL',
  provider: 'sideshift',
  provider_reference: AGREED.provider_reference,
  amount_from: '100',
  minimum: '100',
  maximum: '100',
  amount_to: AGREED.amount_to,
  rate: AGREED.rate,
  decimals_to: 9,
  created_at: at(0),
  expires_at: at(15),
} as OrderFacts;

/** Of what a shift or a deposit says: true, or something else of the kind, or nonsense. */
const statuses = fc.constantFrom(
  'waiting',
  'pending',
  'processing',
  'review',
  'settling',
  'settled',
  'refund',
  'refunding',
  'refunded',
  'expired',
  'multiple',
  'toString',
  '',
);
const amounts = fc.oneof(
  fc.constantFrom('100', '1', '99.999999', '101', '0', '0.51234567', '-1', '1e2', '0.0000001', 'NaN'),
  fc.jsonValue({ maxDepth: 2 }),
);
const hashes = fc.oneof(
  fc.constantFrom('0xdeposit-1', '0xdeposit-2', 'payment-1', 'payment-2'),
  fc.jsonValue(),
);
const times = fc.oneof(fc.integer({ min: -100, max: 100 }).map(at), fc.jsonValue({ maxDepth: 1 }));
const said = {
  status: statuses,
  depositAmount: amounts,
  settleAmount: amounts,
  depositHash: hashes,
  settleHash: hashes,
  depositReceivedAt: times,
};
const deposit = fc.record(said, { requiredKeys: [] }).map((lies) => ({ ...SHIFT, ...lies }));
const shift = fc
  .record(
    {
      ...said,
      deposits: fc.oneof(fc.array(deposit, { maxLength: 4 }), fc.jsonValue()),
      depositAddress: fc.constantFrom(AGREED.deposit_address, null, 'elsewhere'),
      depositCoin: fc.constantFrom('USDC', 'usdc', 'USDT', 7),
    },
    { requiredKeys: [] },
  )
  .map((lies): SideShiftObject => ({ ...SHIFT, ...lies }));

const ENDED = ['completed', 'refunded', 'failed', 'expired', 'cancelled'];

describe('any responses of SideShift, one poll after the other', () => {
  it('is what was agreed, or nothing; and an order that ended stays as it is', () => {
    let believed = 0;
    fc.assert(
      fc.property(fc.array(shift, { minLength: 1, maxLength: 6 }), (polls) => {
        let state: Order = order.evolve(order.initial, { type: 'order.created.v1', data: FACTS });
        polls.forEach((body, index) => {
          const before = state as ExistingOrder;
          const read = readOrNull(body, [...before.deposits, ...before.lateDeposits]);
          if (read === null) return;
          believed += 1;
          const poll = { ...read, completeUntil: null, at: at(100 + index) };
          for (const event of observe(poll, state)) state = order.evolve(state, event);
          const after = state as ExistingOrder;
          if (ENDED.includes(before.status)) expect(after.status).toBe(before.status);
          if (after.status === 'completed')
            expect(after).toMatchObject({ amountFrom: '100', amountTo: AGREED.amount_to });
          for (const { amount } of [...after.deposits, ...after.lateDeposits])
            expect(isDecimal(amount, 6)).toBe(true);
        });
      }),
      { numRuns: 800 },
    );
    // Otherwise nothing was tried.
    expect(believed).toBeGreaterThan(100);
  });
});

describe('a deposit at SideShift', () => {
  const hash = 'AB'.repeat(32);
  const depositOf = (depositHash: string, body: SideShiftObject = SHIFT, pair = PAIR) => {
    const all = readShift({ ...body, depositHash }, AGREED, pair, [], NOW + 100 * 60_000).deposits;
    return all[0]!;
  };

  it('is one transaction of its chain, in any letter case SideShift lists its hash', () => {
    const { id, claim } = depositOf(`0x${hash}`);
    for (const same of [`0x${hash.toLowerCase()}`, `0X${hash}`, hash.toLowerCase()])
      expect(depositOf(same)).toMatchObject({ id, claim });
    const onBase = depositOf(`0x${hash}`, { ...SHIFT, depositNetwork: 'base' }, pairOf('USDCBASESOL')!);
    expect(onBase.claim).not.toBe(claim);
    expect(depositOf('Case-Matters').claim).not.toBe(depositOf('case-matters').claim);
  });

  it('is one of two where a transaction that is listed in two letter cases pays twice', () => {
    const deposits = [`0x${hash}`, `0x${hash.toLowerCase()}`].map((depositHash) => ({
      ...SHIFT,
      depositHash,
      status: 'refunded',
      depositAmount: '7',
    }));
    const status = readShift({ ...SHIFT, status: 'multiple', deposits }, AGREED, PAIR, [], NOW + 6e6);
    expect(new Set(status.deposits.map(({ id }) => id)).size).toBe(2);
    expect(new Set(status.deposits.map(({ claim }) => claim)).size).toBe(1);
  });
});

function readOrNull(body: SideShiftObject, recorded: readonly DepositFacts[]) {
  try {
    return readShift(body, AGREED, PAIR, recorded, NOW + 100 * 60_000);
  } catch (error) {
    expect(error).toBeInstanceOf(ProviderUnavailable);
    expect(error).toMatchObject({ kind: 'contradiction' });
    return null;
  }
}
