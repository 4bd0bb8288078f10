import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { sharedApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import {
  createPayee,
  createUser,
  expirePayout,
  PAYOUTS,
  randomHash,
  report,
  REPORT,
  reported,
  settledPayout,
  USERS,
  type PayoutBody,
} from '../../support/payouts/payout-calls.js';
import type { ApiResponse } from '../../support/http/signed-client.js';

const UNKNOWN = '7b0f1f1e-0000-4000-8000-000000000000';
const NOTHING = '{"balance":{"confirmed":"0","pending":"0","committed":"0","currency_code":"USDC"}}';

const app = await sharedApp();
const { merchant } = app;
const userId = await createUser(merchant);

describe('POST /payouts/report', () => {
  const problem = (response: ApiResponse, status: number, ...fields: string[]): { detail: string } => {
    expect([response.status, response.text]).toEqual([status, expect.stringContaining(`"status":${status}`)]);
    expect(response.headers['content-type']).toContain('application/problem+json');
    const body = response.json();
    expect(Object.keys(body.errors)).toEqual(fields);
    return body;
  };
  const withMetadata = (text: string): Promise<ApiResponse> =>
    merchant.post(
      REPORT,
      `{"user_id":"${userId}","payout":{"amount":"1","transaction_hash":"${randomHash()}","custom_metadata":${text}}}`,
    );

  describe('responds with 201', () => {
    it('and returns the payout with its fields in the order of the specification', async () => {
      const hash = randomHash().toUpperCase();
      const response = await report(merchant, userId, { amount: '12.50', transaction_hash: hash });
      expect(response.status).toBe(201);
      expect(response.headers['content-type']).toContain('application/json');
      const { payout } = response.json();
      expect(Object.entries(payout)).toEqual([
        ['id', expect.stringMatching(/^[0-9a-f-]{36}$/)],
        ['user_id', userId],
        ['amount', '12.50'],
        ['currency_code', 'USDC'],
        ['status', 'pending'],
        ['transaction_hash', hash],
        ['reason', null],
        ['custom_metadata', {}],
        ['created_at', expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)],
      ]);
    });

    it.each([
      ['１２．５０', '12.50'],
      ['١٢٫٥', '12.5'],
      ['۱۲', '12'],
      ['१२', '12'],
    ])('and reads the amount %s in digits of another script as %s', async (amount, read) => {
      const response = await report(merchant, userId, { amount });
      expect([response.status, response.json().payout.amount]).toEqual([201, read]);
    });

    it('and makes the payout readable at once, alone and as the newest of the list', async () => {
      const response = await report(merchant, userId);
      const { payout } = response.json();
      expect((await merchant.get(`${PAYOUTS}/${payout.id}`)).text).toBe(response.text);
      const list = (await merchant.get(`${PAYOUTS}?page_size=1`)).json<{ payouts: PayoutBody[] }>();
      expect(list.payouts).toEqual([payout]);
    });

    it.each([{}, { currency_code: 'USDC' }, { currency_code: null }, { custom_metadata: null }])(
      'with the optional fields %j',
      async (over) => {
        const payout = await reported(merchant, userId, over);
        expect(payout).toMatchObject({ currency_code: 'USDC', custom_metadata: {} });
      },
    );

    it('for a user id in upper case', async () => {
      expect((await reported(merchant, userId.toUpperCase())).user_id).toBe(userId);
    });

    it.each([
      ['big integers and exponents', '{"n":12345678901234567890,"e":1e400,"z":1.0}'],
      ['escapes', '{"\\u0000":"\\u0000","\\ud800":"\\ud83d\\ude00","/":"\\/"}'],
      ['letters of the world', '{"Grüße":"日本語 😀 \u2028"}'],
      ['spaces and the order of keys', '{ "b" : [ 1 ,\n2 ] ,\t"a":{}}'],
      ['repeated keys', '{"a":1,"a":2}'],
      ['words of the envelope', '{"custom_metadata":{"payout":"]}"},"status":"received"}'],
      ['32 levels', '{"a":'.repeat(32).replace(/"a":$/, '') + '}'.repeat(32)],
    ])('and retains custom_metadata byte for byte: %s', async (_name, text) => {
      const response = await withMetadata(text);
      expect([response.status, response.text]).toEqual([
        201,
        expect.stringContaining(`"custom_metadata":${text},"created_at":`),
      ]);
      const { id } = response.json().payout;
      expect((await merchant.get(`${PAYOUTS}/${id}`)).text).toBe(response.text);
      expect((await merchant.get(`${PAYOUTS}?page_size=1`)).text).toContain(text);
    });

    it('again with the same bytes under the same Idempotency-Key, even after the payout ended', async () => {
      const payee = await createPayee(merchant);
      const { hash } = await app.chain.transfer(payee.wallet, '1');
      const [key, body] = [
        randomUUID(),
        { user_id: payee.id, payout: { amount: '1', transaction_hash: hash } },
      ];
      const first = await merchant.post(REPORT, body, key);
      const { id } = first.json().payout;
      expect((await settledPayout(merchant, id)).status).toBe('received');
      const again = await merchant.post(REPORT, body, key);
      expect([again.status, again.text]).toEqual([201, first.text]);
      expect(again.headers['idempotent-replayed']).toBe('true');
    });

    it('to each of two equal reports without an Idempotency-Key, and records two payouts', async () => {
      const hash = randomHash();
      const [one, two] = await Promise.all(
        [1, 2].map(() => reported(merchant, userId, { transaction_hash: hash })),
      );
      expect(one!.id).not.toBe(two!.id);
    });
  });

  it.each([
    ['unknown', async () => UNKNOWN],
    ['malformed', async () => 'none'],
    ['blank', async () => ''],
    ["another merchant's", async () => createUser(app.secondMerchant)],
  ])('responds with 404 for a user id that is %s', async (_name, idOf) => {
    expect(problem(await report(merchant, await idOf()), 404).detail).toBe('User not found');
  });

  describe('responds with 422', () => {
    it.each<[object, string[]]>([
      [{ amount: null }, ['amount']],
      [{ amount: '0' }, ['amount']],
      [{ amount: 1 }, ['amount']],
      [{ transaction_hash: '' }, ['transaction_hash']],
      [{ transaction_hash: ' \t\n' }, ['transaction_hash']],
      [{ transaction_hash: 12 }, ['transaction_hash']],
      [{ transaction_hash: 'a'.repeat(256) }, ['transaction_hash']],
      [{ transaction_hash: 'a\u0000b' }, ['transaction_hash']],
      [{ currency_code: 'usdc' }, ['currency_code']],
      [{ currency_code: 1 }, ['currency_code']],
      [{ custom_metadata: [] }, ['custom_metadata']],
      [{ custom_metadata: false }, ['custom_metadata']],
      [{ custom_metadata: { a: '€'.repeat(5_462) } }, ['custom_metadata']],
      [
        { amount: '0', transaction_hash: '', currency_code: 'X' },
        ['amount', 'transaction_hash', 'currency_code'],
      ],
    ])('for %j', async (over, fields) => {
      problem(await report(merchant, userId, over), 422, ...fields);
    });

    it('for custom_metadata of 33 levels or more', async () => {
      expect((await withMetadata('{"a":'.repeat(32) + '{}' + '}'.repeat(32))).status).toBe(422);
      expect((await withMetadata('{"a":'.repeat(5000) + '1' + '}'.repeat(5000))).status).toBe(422);
    });
  });
});

describe('GET /users/{id}/balance', () => {
  const balance = (userId: string, by = merchant): Promise<ApiResponse> =>
    by.get(`${USERS}/${userId}/balance`);

  it('200: is zero for a new user even if the read models are far behind', async () => {
    const userId = await createUser(merchant);
    const forget = (): Promise<object[]> =>
      app.database.query('delete from payouts.balances where user_id = $1 returning user_id', [userId]);
    await eventually(async () => (await forget()).length === 1);
    expect((await balance(userId)).text).toBe(NOTHING);
    expect((await balance(userId, app.secondMerchant)).status).toBe(404);
  });

  it('200: is pending at once and confirmed when received, without expired payouts', async () => {
    const payee = await createPayee(merchant);
    const { hash } = await app.chain.transfer(payee.wallet, '2.500001');
    const paid = await reported(merchant, payee.id, { amount: '2.500001', transaction_hash: hash });
    const unpaid = await reported(merchant, payee.id, { amount: '10.10' });
    const before = (await balance(payee.id)).json().balance;
    expect(before).toMatchObject({ committed: '12.600001' });
    expect((await settledPayout(merchant, paid.id)).status).toBe('received');
    expect((await balance(payee.id)).json()).toEqual({
      balance: { confirmed: '2.500001', pending: '10.1', committed: '12.600001', currency_code: 'USDC' },
    });
    await expirePayout(merchant, unpaid.id);
    expect((await balance(payee.id)).text).toBe(
      '{"balance":{"confirmed":"2.500001","pending":"0","committed":"2.500001","currency_code":"USDC"}}',
    );
  });

  it('200: is the sum of all reports, even of concurrent ones', async () => {
    const userId = await createUser(merchant);
    await Promise.all(Array.from({ length: 40 }, () => reported(merchant, userId, { amount: '10000' })));
    expect((await balance(userId.toUpperCase())).json()).toMatchObject({ balance: { pending: '400000' } });
  });
});
