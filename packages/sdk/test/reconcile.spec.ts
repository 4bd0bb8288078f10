import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { reconcile, type ExpectedPayout } from '../src/reconcile.js';

type Listed = Parameters<typeof reconcile>[0] extends AsyncIterable<infer Payout> ? Payout : never;

const expected = (n: number, amount = '1'): ExpectedPayout => ({
  transaction_hash: `0x${n}`,
  user_id: 'u',
  amount,
});
const payout = (n: number, amount = '1', status: Listed['status'] = 'received'): Listed =>
  ({ id: `p${n}`, ...expected(n, amount), status }) as Listed;
async function* listOf(payouts: readonly Listed[]): AsyncGenerator<Listed> {
  yield* payouts;
}

describe('a reconciliation', () => {
  it('names what is missing, unexpected, different, pending and expired', async () => {
    const listed = [
      payout(1),
      payout(2, '2.50', 'pending'),
      payout(3, '3', 'expired'),
      payout(4, '4'),
      payout(9),
    ];
    const own = [expected(1, '01.0'), expected(2, '2.5'), expected(3, '3'), expected(4, '4.01'), expected(5)];
    expect(await reconcile(listOf(listed), own)).toEqual({
      matched: 3,
      missing: [own[4]],
      unexpected: [listed[4]],
      different: [{ expected: own[3], payout: listed[3] }],
      pending: [listed[1]],
      expired: [listed[2]],
    });
  });

  it('finds the transfer and the user in any letter case, and prefers an equal amount', async () => {
    const own = [
      { ...expected(1, '1'), user_id: 'U', transaction_hash: '0XAB' },
      expected(2, '1'),
      expected(2, '2'),
    ];
    const listed = [{ ...payout(1, '1'), transaction_hash: '0xab' }, payout(2, '2'), payout(2, '1')];
    expect(await reconcile(listOf(listed), own)).toMatchObject({ matched: 3, missing: [], different: [] });
  });

  it('counts every payout of both lists once', async () => {
    const entries = fc.array(fc.tuple(fc.nat(6), fc.constantFrom('1', '1.0', '2', '2.000001')), {
      maxLength: 30,
    });
    await fc.assert(
      fc.asyncProperty(entries, entries, async (ours, theirs) => {
        const own = ours.map(([n, amount]) => expected(n, amount));
        const listed = theirs.map(([n, amount]) => payout(n, amount));
        const { matched, missing, unexpected, different } = await reconcile(listOf(listed), own);
        expect(matched + missing.length + different.length).toBe(own.length);
        expect(matched + unexpected.length + different.length).toBe(listed.length);
      }),
    );
  });
});
