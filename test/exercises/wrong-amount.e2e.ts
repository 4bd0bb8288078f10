import { expect, it } from '@jest/globals';
import { sharedApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { createPayee, reported, settledPayout } from '../support/payouts/payout-calls.js';

const app = await sharedApp();
const { chain, merchant } = app;

it('A payout of 2 USDC stays pending with a finding if its transaction paid 1; a report of 1 is received', async () => {
  const admin = await app.newAdmin();
  const payee = await createPayee(merchant);
  const { hash } = await chain.transfer(payee.wallet, '1');
  const wrong = await reported(merchant, payee.id, { amount: '2', transaction_hash: hash });
  const finding = await eventually(async () => {
    const { checks } = (await admin.get(`/payouts/${wrong.id}/checks`)).json<{
      checks: { finding: string }[];
    }>();
    return checks[0]?.finding;
  });
  expect(finding).toBe('wrong_amount');

  const right = await reported(merchant, payee.id, { amount: '1', transaction_hash: hash });
  expect((await settledPayout(merchant, right.id)).status).toBe('received');
  expect((await merchant.get(`/merchants/v1/payouts/${wrong.id}`)).json()).toMatchObject({
    payout: { status: 'pending' },
  });
});
