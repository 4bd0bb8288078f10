import { beforeAll, describe, expect, it } from '@jest/globals';
import { onTestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import {
  createPayee,
  createUser,
  reported,
  settledPayout,
  USERS,
} from '../../support/payouts/payout-calls.js';
import type { ApiResponse, SignedClient } from '../../support/http/signed-client.js';

const NOTHING = '{"balance":{"confirmed":"0","pending":"0","committed":"0","currency_code":"USDC"}}';

/** Responses are checked against the OpenAPI document by the client itself. */
describe('GET /users/{id}/balance', () => {
  const app = onTestApp({ PAYOUT_VERIFICATION_WINDOW_SECONDS: '10' });
  let merchant: SignedClient;

  beforeAll(() => {
    merchant = app.merchant;
  });

  const balance = (userId: string, by = merchant): Promise<ApiResponse> =>
    by.get(`${USERS}/${userId}/balance`);

  it('200: zeros for a user without payouts, at once after the user was created', async () => {
    const users = await Promise.all(Array.from({ length: 10 }, () => createUser(merchant)));
    const responses = await Promise.all(users.map((id) => balance(id)));
    expect(responses.map(({ text }) => text)).toEqual(users.map(() => NOTHING));
  });

  it('200: zeros for a new user also when the read models are far behind', async () => {
    const userId = await createUser(merchant);
    const forget = (): Promise<object[]> =>
      app.database.query('delete from payouts.balances where user_id = $1 returning user_id', [userId]);
    await eventually(async () => (await forget()).length === 1);
    expect((await balance(userId)).text).toBe(NOTHING);
    expect((await balance(userId, app.secondMerchant)).status).toBe(404);
  });

  it('200: pending at once, confirmed when received, nothing of what expired', async () => {
    const payee = await createPayee(merchant);
    const { hash } = await app.chain.transfer(payee.wallet, '2.500001');
    const paid = await reported(merchant, payee.id, { amount: '2.500001', transaction_hash: hash });
    const unpaid = await reported(merchant, payee.id, { amount: '10.10' });
    const before = (await balance(payee.id)).json<{ balance: object }>().balance;
    expect(before).toMatchObject({ committed: '12.600001' });
    expect((await settledPayout(merchant, paid.id)).status).toBe('received');
    expect((await balance(payee.id)).json()).toEqual({
      balance: { confirmed: '2.500001', pending: '10.1', committed: '12.600001', currency_code: 'USDC' },
    });
    expect((await settledPayout(merchant, unpaid.id)).status).toBe('expired');
    expect((await balance(payee.id)).text).toBe(
      '{"balance":{"confirmed":"2.500001","pending":"0","committed":"2.500001","currency_code":"USDC"}}',
    );
  });

  it('200: every report is in the sum, also of many at the same time', async () => {
    const userId = await createUser(merchant);
    await Promise.all(Array.from({ length: 40 }, () => reported(merchant, userId, { amount: '10000' })));
    expect((await balance(userId.toUpperCase())).json()).toMatchObject({ balance: { pending: '400000' } });
  });
});
