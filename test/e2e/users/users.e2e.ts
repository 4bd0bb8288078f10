import { describe, expect, it } from '@jest/globals';
import { CommandBus } from '@nestjs/cqrs';
import { randomUUID } from 'node:crypto';
import { StartDeactivation } from '../../../src/contexts/users/users.contract.js';
import { sharedApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { onboardersIn, onboardingOf, submitted } from '../../support/onboarding/onboard.js';
import { ACT } from '../../support/onboarding/people.js';
import type { ApiResponse } from '../../support/http/signed-client.js';
import { randomPhone, USERS } from '../../support/payouts/payout-calls.js';

const app = await sharedApp();
const { merchant, secondMerchant: other } = app;

describe('users', () => {
  const create = (body: object, by = merchant, key?: string): Promise<ApiResponse> =>
    by.post(USERS, body, key);
  const created = async (body: object = {}, by = merchant): Promise<Record<string, string | null>> => {
    const response = await create({ phone_number: randomPhone(), ...body }, by);
    expect(response.status).toBe(201);
    return response.json().user;
  };
  const expectProblem = (response: ApiResponse, status: number, fields: readonly string[] = []): void => {
    expect(response.status).toBe(status);
    expect(response.headers['content-type']).toContain('application/problem+json');
    const problem = response.json<{ status: number; errors: Record<string, string[]> }>();
    expect(problem.status).toBe(status);
    expect(Object.keys(problem.errors)).toEqual(fields);
  };
  const byWallet = (address: string, by = merchant): Promise<ApiResponse> =>
    by.get(`${USERS}/by_issuer_wallet_address?address=${address}`);
  const complete = (id: string, by = merchant): Promise<ApiResponse> =>
    by.post(`/merchants/v1/sandbox/users/${id}/complete_onboarding`);

  describe('POST /users', () => {
    it('201: returns the user in onboarding, normalised, with the fields in the order of the specification', async () => {
      const phone = randomPhone();
      const typed = `${phone.slice(0, 2)} (${phone.slice(2, 5)}) ${phone.slice(5, 8)}-${phone.slice(8)}`;
      const externalId = ` order-${randomUUID()} `;
      const response = await create({
        phone_number: typed,
        email: ' Ada@Example.COM',
        external_id: externalId,
      });
      expect(response.status).toBe(201);
      const { user } = response.json();
      expect(Object.entries(user)).toEqual([
        ['id', expect.stringMatching(/^[0-9a-f-]{36}$/)],
        ['external_id', externalId.trim()],
        ['phone_number', phone],
        ['email', 'ada@example.com'],
        ['created_at', expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)],
        ['account_state', 'onboarding'],
        ['issuer_wallet_address', null],
      ]);
      for (const id of [user['id']!, user['id']!.toUpperCase()])
        expect((await merchant.get(`${USERS}/${id}`)).json().user).toEqual(user);
    });

    it('201: returns the same fields whether or not another merchant has a user with the phone number', async () => {
      const body = { phone_number: randomPhone(), external_id: `x-${randomUUID()}` };
      const [mine, theirs] = [await created(body), await created(body, other)];
      expect(theirs).toEqual({ ...mine, id: theirs['id'], created_at: theirs['created_at'] });
      expect(theirs['id']).not.toBe(mine['id']);
    });

    it('422: refuses the phone number of another user in any spelling, and does not store the refusal', async () => {
      const [phone_number, key] = [randomPhone(), randomUUID()];
      await created({ phone_number });
      for (const spelling of [phone_number, `${phone_number.slice(0, 2)}-${phone_number.slice(2)}`])
        for (const given of [undefined, key, key]) {
          const response = await create({ phone_number: spelling }, merchant, given);
          expectProblem(response, 422, ['phone_number']);
          expect(response.headers['idempotent-replayed']).toBeUndefined();
        }
    });

    it('422: refuses the external_id of another user, and the phone number of the refused user stays free', async () => {
      const externalId = randomUUID();
      await created({ external_id: externalId });
      const phone = randomPhone();
      expectProblem(await create({ phone_number: phone, external_id: ` ${externalId} ` }), 422, [
        'external_id',
      ]);
      await created({ phone_number: phone });
    });

    it('422: leaves no personal key of a refused user behind', async () => {
      const [phone, externalId] = [randomPhone(), randomUUID()];
      await created({ phone_number: phone, external_id: externalId });
      const keys = async (): Promise<unknown> =>
        (await app.database.query('select count(*)::int as n from platform.personal_keys'))[0];
      const before = await keys();
      for (const [body, field] of [
        [{ phone_number: phone }, 'phone_number'],
        [{ phone_number: randomPhone(), external_id: externalId }, 'external_id'],
      ] as const) {
        expectProblem(await create(body), 422, [field]);
        expectProblem(await create(body, merchant, randomUUID()), 422, [field]);
      }
      expect(await keys()).toEqual(before);
    });

    it('creates exactly one of many users that race for one phone number', async () => {
      for (let round = 0; round < 5; round += 1) {
        const body = { phone_number: randomPhone() };
        const responses = await Promise.all(Array.from({ length: 12 }, () => create(body)));
        expect(responses.filter(({ status }) => status === 201)).toHaveLength(1);
        for (const response of responses.filter(({ status }) => status !== 201))
          expectProblem(response, 422, ['phone_number']);
      }
    });
  });

  describe('GET /users/by_issuer_wallet_address', () => {
    it('200: finds the user as soon as the onboarding is completed, in any letter case of the address', async () => {
      const user = await created();
      const response = await complete(user['id']!);
      expect(response.status).toBe(200);
      const active = response.json().user;
      expect(active).toEqual({
        ...user,
        account_state: 'active',
        issuer_wallet_address: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
      });
      const address = active['issuer_wallet_address']!;
      for (const form of [address, address.toLowerCase(), `0x${address.slice(2).toUpperCase()}`]) {
        expect((await byWallet(form)).json().user).toEqual(active);
      }
      expectProblem(await byWallet(address, other), 404);
    });

    it('404: refuses an unknown wallet; 400: refuses a missing address', async () => {
      expectProblem(await byWallet(`0x${'0'.repeat(40)}`), 404);
      expectProblem(await byWallet('nonsense%00'), 404);
      const missing = await merchant.get(`${USERS}/by_issuer_wallet_address`);
      expectProblem(missing, 400);
      expect(missing.json().detail).toContain('address');
      expectProblem(await byWallet(''), 400);
    });
  });

  describe('POST /sandbox/users/{id}/complete_onboarding', () => {
    it('200: activates the user with its own wallet, even with concurrent and repeated calls', async () => {
      const [one, two] = [(await created())['id']!, (await created())['id']!];
      const responses = await Promise.all([one, two, one].map((id) => complete(id)));
      expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
      const users = responses.map((response) => response.json().user);
      expect(users.map((user) => [user['id'], user['account_state']])).toEqual([
        [one, 'active'],
        [two, 'active'],
        [one, 'active'],
      ]);
      expect(users[0]!['issuer_wallet_address']).not.toBe(users[1]!['issuer_wallet_address']);
      expect((await complete(one)).text).toBe(responses[0]!.text);
    });

    it('200: activates a user after a rejected identity', async () => {
      const here = onboardersIn(app);
      const id = await submitted(here, 'Rejected', merchant.credentials.apiKey);
      await eventually(async () => (await onboardingOf(here, id)).stage === 'kyc_failed');
      const response = await complete(id);
      expect(response.status).toBe(200);
      expect(response.json().user).toMatchObject({ account_state: 'active' });
    });

    it('409: refuses a user who is deactivating or deactivated', async () => {
      const id = (await created())['id']!;
      await app.app.get(CommandBus).execute(new StartDeactivation(id, {}, { id: 'operation', ...ACT }));
      expect((await complete(id)).status).toBe(409);
      await eventually(async () => {
        const { user } = (await merchant.get(`${USERS}/${id}`)).json();
        return user['account_state'] === 'deactivated';
      });
      expect((await complete(id)).status).toBe(409);
    });
  });
});
