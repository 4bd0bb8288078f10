import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isDecimal } from '../../../kernel/decimal.js';
import { ProviderUnavailable } from '../../../platform/outbound/provider-errors.js';
import type { AgreedOrder } from './exchange-provider.ports.js';
import { readShift } from './sideshift-shift.adapter.js';
import type { SideShiftObject } from './sideshift-api.adapter.js';

const NOW = Date.UTC(2026, 0, 2, 12);
const at = (minutes: number): string => new Date(NOW + minutes * 60_000).toISOString();

const AGREED: AgreedOrder = {
  order_id: 'order-1',
  provider_reference: 'f78df8663d4c4d5913b9',
  pair_id: 'USDCSOL',
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
/** Statuses of a shift or a deposit: documented, of the wrong kind, or nonsense. */
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

it('every response of SideShift is either consistent with the agreed shift or a contradiction', () => {
  let believed = 0;
  fc.assert(
    fc.property(shift, (body) => {
      const read = readOrNull(body);
      if (read === null) return;
      believed += 1;
      for (const { amount } of read.deposits) expect(isDecimal(amount, 6)).toBe(true);
      if (read.outcome?.kind !== 'completed') return;
      expect(read.outcome.amountTo).toBe(AGREED.amount_to);
      expect(read.deposits.map(({ amount }) => amount)).toContain(AGREED.amount_from);
    }),
    { numRuns: 1500 },
  );
  // Fails when every response was a contradiction.
  expect(believed).toBeGreaterThan(20);
});

describe('a deposit at SideShift', () => {
  const hash = 'AB'.repeat(32);
  const depositOf = (depositHash: string, body: SideShiftObject = SHIFT, pair_id = 'USDCSOL') =>
    readShift({ ...body, depositHash }, { ...AGREED, pair_id }, []).deposits[0]!;

  it('is identified by its transaction hash, in any letter case', () => {
    const { deposit_id, claim } = depositOf(`0x${hash}`);
    for (const same of [`0x${hash.toLowerCase()}`, `0X${hash}`, hash.toLowerCase()])
      expect(depositOf(same)).toMatchObject({ deposit_id, claim });
    const onBase = depositOf(`0x${hash}`, { ...SHIFT, depositNetwork: 'base' }, 'USDCBASESOL');
    expect(onBase.claim).not.toBe(claim);
    expect(depositOf('Case-Matters').claim).not.toBe(depositOf('case-matters').claim);
  });

  it('has two ids but one claim if its transaction is listed twice in different letter case', () => {
    const deposits = [`0x${hash}`, `0x${hash.toLowerCase()}`].map((depositHash) => ({
      ...SHIFT,
      depositHash,
      status: 'refunded',
      depositAmount: '7',
    }));
    const status = readShift({ ...SHIFT, status: 'multiple', deposits }, AGREED, []);
    expect(new Set(status.deposits.map(({ deposit_id }) => deposit_id)).size).toBe(2);
    expect(new Set(status.deposits.map(({ claim }) => claim)).size).toBe(1);
  });
});

function readOrNull(body: SideShiftObject) {
  try {
    return readShift(body, AGREED, []);
  } catch (error) {
    expect(error).toBeInstanceOf(ProviderUnavailable);
    expect(error).toMatchObject({ kind: 'contradiction' });
    return null;
  }
}
