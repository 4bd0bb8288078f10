import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CommandBus } from '@nestjs/cqrs';
import { randomInt } from 'node:crypto';
import { SettleDeactivation } from '../../../src/contexts/payouts/application/deactivation-worker.js';
import { StartDeactivation } from '../../../src/contexts/users/application/user-commands.js';
import { ACT } from '../../support/onboarding/people.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { onboardingOf, submitted } from '../../support/onboarding/onboard.js';
import type { ApiResponse, SignedClient } from '../../support/http/signed-client.js';
import { expectInOrder } from '../../support/in-order.js';

describe('POST /sandbox/users/{id}/complete_onboarding', () => {
  let app: TestApp;
  let merchant: SignedClient;

  beforeAll(async () => {
    app = await startTestApp();
    ({ merchant } = app);
  });
  afterAll(async () => {
    await expectInOrder(app.config.databaseUrl!);
    await app.close();
  });

  const createUser = async (): Promise<string> => {
    const phone = `+1555${String(randomInt(10_000_000)).padStart(7, '0')}`;
    const response = await merchant.post('/merchants/v1/users', { phone_number: phone });
    return response.json<{ user: { id: string } }>().user.id;
  };
  const complete = (id: string, by = merchant, key?: string): Promise<ApiResponse> =>
    by.post(`/merchants/v1/sandbox/users/${id}/complete_onboarding`, undefined, key);

  it('200: the user is active, with its own wallet', async () => {
    const [one, two] = await Promise.all([createUser(), createUser()]);
    const responses = await Promise.all([complete(one), complete(two)]);
    const users = responses.map((response) => response.json<{ user: Record<string, string> }>().user);
    expect(responses.map(({ status }) => status)).toEqual([200, 200]);
    expect(users.map((user) => [user['id'], user['account_state']])).toEqual([
      [one, 'active'],
      [two, 'active'],
    ]);
    expect(users[0]!['issuer_wallet_address']).not.toBe(users[1]!['issuer_wallet_address']);
    const again = await complete(one);
    expect([again.status, again.text]).toEqual([200, responses[0]!.text]);
  });

  it('200: after an identity that was rejected', async () => {
    const here = { module: app.app, commandBus: app.app.get(CommandBus), database: app.database };
    const id = await submitted(here, 'Rejected', merchant.credentials.apiKey);
    await eventually(async () => (await onboardingOf(here, id)).stage === 'kyc_failed');
    const response = await complete(id);
    expect([response.status, response.json<{ user: object }>().user]).toMatchObject([
      200,
      { account_state: 'active' },
    ]);
  });

  it('409: the user is deactivating or deactivated', async () => {
    const id = await createUser();
    const commands = app.app.get(CommandBus);
    await commands.execute(new StartDeactivation(id, ACT));
    expect((await complete(id)).status).toBe(409);
    await expect(
      (async () => {
        for (;;) {
          const { state } = await commands.execute(new SettleDeactivation(id)).catch(() => ({ state: null }));
          if (state !== null) return state.accountState;
        }
      })(),
    ).resolves.toBe('deactivated');
    expect((await complete(id)).status).toBe(409);
  });
});
