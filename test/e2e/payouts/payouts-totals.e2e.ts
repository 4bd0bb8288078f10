import { expect, it } from '@jest/globals';
import { onTestApp } from '../../support/app.js';
import {
  createPayee,
  PAYOUTS,
  reported,
  settledPayout,
  type PayoutBody,
} from '../../support/payouts/payout-calls.js';

interface Page {
  readonly payouts: PayoutBody[];
  readonly next_cursor: string | null;
  readonly totals?: Readonly<Record<string, { readonly count: number; readonly amount: string }>>;
}

const app = onTestApp({ PAYOUT_VERIFICATION_WINDOW_SECONDS: '1' });

it('200: totals=true adds count and amount by status of all that match, on every page', async () => {
  const payer = await app.newMerchant();
  const [one, two] = [await createPayee(payer), await createPayee(payer)];
  const paid = await reported(payer, one.id, {
    amount: '12.5',
    transaction_hash: (await app.chain.transfer(one.wallet, '12.5')).hash,
  });
  const unpaid = [
    await reported(payer, one.id, { amount: '0.000001' }),
    await reported(payer, two.id, { amount: '9999.999999' }),
    await reported(payer, two.id, { amount: '10000' }),
  ];
  for (const { id } of [paid, ...unpaid]) await settledPayout(payer, id);
  const none = { count: 0, amount: '0' };
  const list = async (query: string): Promise<Page> => (await payer.get(`${PAYOUTS}${query}`)).json<Page>();
  const totalsOf = async (query: string): Promise<Page['totals']> =>
    (await list(`?totals=true${query}`)).totals;
  const all = {
    pending: none,
    received: { count: 1, amount: '12.5' },
    expired: { count: 3, amount: '20000' },
  };
  expect(await totalsOf('')).toEqual(all);
  const first = await list('?totals=true&page_size=2');
  expect(await totalsOf(`&page_size=2&page_cursor=${first.next_cursor}`)).toEqual(all);
  const ofOne = { ...all, expired: { count: 1, amount: '0.000001' } };
  expect(await totalsOf(`&user_id=${one.id}`)).toEqual(ofOne);
  expect(await totalsOf(`&user_id=${one.id}&status=received`)).toEqual({ ...ofOne, expired: none });
  expect(await totalsOf(`&transaction_hash=${paid.transaction_hash}`)).toEqual({ ...all, expired: none });
  expect(await totalsOf('&created_from=2999-01-01')).toEqual({ ...all, received: none, expired: none });
  expect(await list('')).not.toHaveProperty('totals');
  const refused = await payer.get(`${PAYOUTS}?totals=yes`);
  expect([refused.status, refused.json<{ detail: string }>().detail]).toEqual([
    400,
    expect.stringContaining('totals'),
  ]);
});
