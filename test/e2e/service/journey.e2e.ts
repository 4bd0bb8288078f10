import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { startTestApp, type TestApp, type TestSettings } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { ContractChecker } from '../../support/http/openapi.js';
import { TestReceiver } from '../../support/webhooks/receiver.js';
import type { SignedClient } from '../../support/http/signed-client.js';

interface User {
  readonly id: string;
  readonly account_state: string;
  readonly issuer_wallet_address: string | null;
}

interface Payout {
  readonly id: string;
  readonly status: string;
  readonly reason: string | null;
}

const eventStoreDb = process.env['EVENTSTOREDB_URL'];
const STORES: readonly (readonly [string, TestSettings])[] = [
  ['PostgreSQL', {}],
  ...(eventStoreDb === undefined ? [] : [['EventStoreDB', { EVENT_STORE_URL: eventStoreDb }] as const]),
];

async function activeUser(merchant: SignedClient): Promise<User & { issuer_wallet_address: string }> {
  const phone_number = `+14152${String(Math.floor(Math.random() * 1e6)).padStart(6, '0')}`;
  const created = await merchant.post('/merchants/v1/users', { phone_number });
  expect(created.status).toBe(201);
  const { id } = created.json<{ user: User }>().user;
  const completed = await merchant.post(`/merchants/v1/sandbox/users/${id}/complete_onboarding`);
  expect(completed.status).toBe(200);
  const { user } = (await merchant.get(`/merchants/v1/users/${id}`)).json<{ user: User }>();
  expect(user.account_state).toBe('active');
  return { ...user, issuer_wallet_address: user.issuer_wallet_address! };
}

async function settled(merchant: SignedClient, id: string): Promise<Payout> {
  let payout: Payout | undefined;
  await eventually(async () => {
    ({ payout } = (await merchant.get(`/merchants/v1/payouts/${id}`)).json<{ payout: Payout }>());
    return payout.status !== 'pending';
  });
  return payout!;
}

describe.each(STORES)('the whole way with events in %s', (_name, settings) => {
  let service: TestApp;
  let receiver: TestReceiver;

  beforeAll(async () => {
    [service, receiver] = await Promise.all([startTestApp(settings), TestReceiver.start()]);
  });

  afterAll(async () => {
    await Promise.all([service.close(), receiver.stop()]);
  });

  test('a payout goes all the way, from a new user to a webhook that standardwebhooks verifies', async () => {
    const { merchant, chain } = service;
    const registered = await merchant.post('/merchants/v1/webhook_endpoints', {
      webhook_endpoint: { url: `${receiver.url}/hook` },
    });
    expect(registered.status).toBe(201);
    const { webhook_endpoint } = registered.json<{ webhook_endpoint: { signing_secret: string } }>();
    const user = await activeUser(merchant);

    const { hash } = await chain.transfer(user.issuer_wallet_address, '12.50');
    const body = {
      user_id: user.id,
      payout: { amount: '12.50', transaction_hash: hash, custom_metadata: { invoice: 7 } },
    };
    const reported = await merchant.post('/merchants/v1/payouts/report', body, randomUUID());
    expect(reported.status).toBe(201);
    const { payout } = reported.json<{ payout: Payout }>();
    expect(payout.status).toBe('pending');

    expect((await settled(merchant, payout.id)).status).toBe('received');
    const { balance } = (await merchant.get(`/merchants/v1/users/${user.id}/balance`)).json<{
      balance: object;
    }>();
    expect(balance).toEqual({ confirmed: '12.5', pending: '0', committed: '12.5', currency_code: 'USDC' });

    const isOurs = (text: string): boolean =>
      (JSON.parse(text) as { type: string }).type === 'payout.received';
    await eventually(() => receiver.received.some((each) => isOurs(each.body)));
    const delivery = receiver.received.find((each) => isOurs(each.body))!;
    const event = new Webhook(webhook_endpoint.signing_secret).verify(
      delivery.body,
      delivery.headers as Record<string, string>,
    );
    expect(event).toMatchObject({
      id: delivery.headers['webhook-id'],
      type: 'payout.received',
      merchant_id: merchant.credentials.apiKey,
      data: {
        payout_id: payout.id,
        user_id: user.id,
        amount: '12.50',
        currency_code: 'USDC',
        transaction_hash: hash,
        custom_metadata: { invoice: 7 },
      },
    });
    const contract = await ContractChecker.of(service.url);
    for (const each of receiver.received) contract.expectWebhook(each.body);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBeGreaterThan(4);
  });

  test('the sandbox pays by a signed call, also many times at once', async () => {
    const { merchant, chain } = service;
    const to = chain.newAddress();
    const path = '/merchants/v1/sandbox/transfers';
    const sent = await Promise.all(
      Array.from({ length: 20 }, () => merchant.post(path, { to, amount: '0.25' })),
    );
    expect(sent.map(({ status }) => status)).toEqual(sent.map(() => 201));
    const hashes = sent.map((response) => response.json<{ transaction_hash: string }>().transaction_hash);
    expect(new Set(hashes).size).toBe(20);
    await Promise.all(hashes.map((hash) => chain.provider.waitForTransaction(hash)));
    expect(await chain.balanceOf(to)).toBe(5_000_000n);

    const user = await activeUser(merchant);
    const paid = await merchant.post(path, { to: user.issuer_wallet_address, amount: '3' });
    const { transaction_hash } = paid.json<{ transaction_hash: string }>();
    const body = { user_id: user.id, payout: { amount: '3', transaction_hash } };
    const { payout } = (await merchant.post('/merchants/v1/payouts/report', body)).json<{ payout: Payout }>();
    expect((await settled(merchant, payout.id)).status).toBe('received');
  });

  test('a sandbox transfer under one Idempotency-Key is sent once', async () => {
    const to = service.chain.newAddress();
    const key = randomUUID();
    const path = '/merchants/v1/sandbox/transfers';
    const first = await service.merchant.post(path, { to, amount: '1' }, key);
    const again = await service.merchant.post(path, { to, amount: '1' }, key);
    expect([again.status, again.text]).toEqual([first.status, first.text]);
    expect(again.headers['idempotent-replayed']).toBe('true');
    await service.chain.provider.waitForTransaction(
      first.json<{ transaction_hash: string }>().transaction_hash,
    );
    expect(await service.chain.balanceOf(to)).toBe(1_000_000n);
  });

  test.each([
    ['no address', { to: 'somebody', amount: '1' }, ['to']],
    ['a wrong checksum', { to: '0x8464135c8F25Da09e49BC8782676a84730C318bc', amount: '1' }, ['to']],
    ['zero', { to: '0x8464135c8f25da09e49bc8782676a84730c318bc', amount: '0' }, ['amount']],
    ['a number', { to: '0x8464135c8f25da09e49bc8782676a84730c318bc', amount: 1 }, ['amount']],
    ['too much', { to: '0x8464135c8f25da09e49bc8782676a84730c318bc', amount: '1000000.000001' }, ['amount']],
    ['nothing at all', {}, ['to', 'amount']],
  ])('a sandbox transfer with %s is 422', async (_, body, fields) => {
    const response = await service.merchant.post('/merchants/v1/sandbox/transfers', body);
    expect(response.status).toBe(422);
    expect(Object.keys(response.json<{ errors: object }>().errors)).toEqual(fields);
  });
});
