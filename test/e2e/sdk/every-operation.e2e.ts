import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from '@jest/globals';
import {
  AuthenticationError,
  Disburse,
  InvalidRequestError,
  NotFoundError,
  verifyWebhook,
} from '../../../packages/sdk/src/index.js';
import { sharedApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { ADDRESS } from '../../support/exchange/order-fixtures.js';
import { uncalled } from './merchant-operations.js';
import { sdkClients } from '../../support/sdk-clients.js';
import { TestReceiver } from '../../support/webhooks/receiver.js';

const today = (): string => new Date().toISOString().slice(0, 10);

const app = await sharedApp();
const clients = sdkClients(app);
const receiver = await TestReceiver.start();

describe('the TypeScript client', () => {
  afterAll(() => receiver.stop());

  it('reports a payout, verifies its webhook, and reads and changes users, payouts and endpoints', async () => {
    const { users, payouts, webhookEndpoints, webhookDeliveries, audit, sandbox, events } = clients.merchant;
    const registered = await webhookEndpoints.register({ webhook_endpoint: { url: receiver.url } });
    const endpoint = registered.data.webhook_endpoint;
    const phone_number = '+15551230001';
    const external_id = 'player-1';
    const { user } = (await users.create({ phone_number, external_id })).data;
    await sandbox.completeOnboarding(user.id);
    const payee = (await users.get(user.id)).data.user;
    expect(payee.account_state).toBe('active');
    expect((await users.findByWallet(payee.issuer_wallet_address!)).data.user.id).toBe(user.id);

    const { transaction_hash } = (
      await sandbox.transfer({ to: payee.issuer_wallet_address!, amount: '12.5' })
    ).data;
    const body = {
      user_id: user.id,
      payout: { amount: '12.50', transaction_hash, currency_code: 'USDC' as const },
    };
    const first = await payouts.report(body, { idempotencyKey: 'invoice 1' });
    const repeat = await payouts.report(body, { idempotencyKey: 'invoice 1' });
    expect([first.status, first.replayed, repeat.replayed]).toEqual([201, false, true]);
    expect(repeat.data).toEqual(first.data);
    const { id } = first.data.payout;
    await eventually(async () => (await payouts.get(id)).data.payout.status === 'received');
    expect((await users.balance(user.id)).data.balance.confirmed).toBe('12.5');
    expect((await payouts.evidence(id)).data.evidence.transaction_hash).toBe(transaction_hash);
    expect((await payouts.proof(id)).data.proof).toBeDefined();
    const { head } = (await audit.head()).data;
    await audit.consistency({ from: head.size, to: head.size });
    expect(
      await payouts.reconcile({ created_from: today(), created_to: today() }, [
        { transaction_hash, user_id: user.id, amount: '12.5' },
      ]),
    ).toEqual({ matched: 1, missing: [], unexpected: [], different: [], pending: [], expired: [] });

    const delivered = await eventually(() =>
      receiver.received.find(({ body: text }) => text.includes('payout.received')),
    );
    const event = verifyWebhook(endpoint.signing_secret, delivered.body, delivered.headers);
    expect(event.type === 'payout.received' && event.data.payout_id).toBe(id);
    const delivery = (await webhookDeliveries.list(endpoint.id, { type: 'payout.received' }).all())[0]!;
    expect((await webhookDeliveries.get(delivery.id)).data.webhook_delivery.attempts).toHaveLength(1);
    await webhookDeliveries.resend(delivery.id);
    await webhookEndpoints.test(endpoint.id);
    await webhookEndpoints.rotateSecret(endpoint.id, { overlap_seconds: 60 });
    await webhookEndpoints.stats(endpoint.id);
    await webhookEndpoints.recover(endpoint.id, { since: new Date(Date.now() - 60_000).toISOString() });
    await webhookEndpoints.update(endpoint.id, { webhook_endpoint: { description: 'ours' } });
    expect((await webhookEndpoints.get(endpoint.id)).data.webhook_endpoint.description).toBe('ours');
    await sandbox.breakWebhookEndpoint(endpoint.id);
    expect((await webhookEndpoints.list()).data.webhook_endpoints).toHaveLength(1);
    expect((await webhookEndpoints.delete(endpoint.id)).status).toBe(204);

    const late = { amount: '1', transaction_hash: `0x${'ab'.repeat(32)}` };
    const unpaid = (await payouts.report({ user_id: user.id, payout: late })).data.payout;
    expect((await sandbox.expirePayout(unpaid.id)).data.payout.status).toBe('expired');
    const event_id = randomUUID();
    await events.send({
      events: [
        {
          event_name: 'level_up',
          payload: {},
          event_datetime: new Date().toISOString(),
          event_id,
          user_external_id: external_id,
        },
      ],
    });
    const journey = await eventually(async () => (await users.events(user.id).all())[0]);
    expect(journey.event_id).toBe(event_id);
  });

  it('creates, lists and revokes portal sessions', async () => {
    const { portalSessions } = clients.merchant;
    const { portal_session } = (await portalSessions.create()).data;
    const listed = await portalSessions.list({ page_size: 1 }).all();
    expect(listed.map(({ id }) => id)).toEqual([portal_session.id]);
    expect((await portalSessions.revoke(portal_session.id)).status).toBe(204);
  });

  it('creates an order, acts on it and lists it', async () => {
    const { exchange } = clients;
    const [token] = (await exchange.tokens({ to_token: 'sol' })).data.tokens;
    const query = { pair_id: token!.pair_ids[0]!, withdraw_address: ADDRESS };
    const { order } = (await exchange.orders.create(query)).data;
    const paid = (await exchange.orders.create(query)).data.order;
    expect((await exchange.orders.get(order)).data.order).toEqual(order);
    expect((await exchange.orders.refresh(order)).data.order.id).toBe(order.id);
    await exchange.orders.markAsPaid(paid);
    expect((await exchange.orders.cancel(order)).data.order.status).toBe('cancelled');
    const listed = await exchange.orders.list({ start_date: today(), end_date: today(), page_size: 1 }).all();
    expect(listed.map(({ id }) => id).sort()).toEqual([order.id, paid.id].sort());
    const { sandbox } = clients.merchant;
    expect((await sandbox.failOrder(paid.id)).data.order.status).toBe('failed');
    const partly = (await exchange.orders.create(query)).data.order;
    await sandbox.transfer({ to: partly.deposit_address, amount: '40' });
    await eventually(async () => (await exchange.orders.get(partly)).data.order.amount_received === '40');
    expect((await sandbox.refundOrder(partly.id)).data.order.status).toBe('refunded');
    const { signed_url } = (await exchange.configuration({ token: 'sol', withdraw_address: ADDRESS })).data;
    expect(signed_url).toContain(ADDRESS);
  });

  it('walks a list page by page', async () => {
    const { users, payouts, sandbox } = clients.merchant;
    const { user } = (await users.create({ phone_number: '+15551230002' })).data;
    await sandbox.completeOnboarding(user.id);
    const hashes = Array.from({ length: 5 }, () => `0x${randomUUID().replaceAll('-', '').repeat(2)}`);
    for (const transaction_hash of hashes)
      await payouts.report({
        user_id: user.id,
        payout: { amount: '1', transaction_hash, currency_code: 'USDC' },
      });
    const pages = payouts.list({ user_id: user.id, page_size: 2 });
    expect((await pages.all()).map(({ transaction_hash }) => transaction_hash)).toEqual(hashes.reverse());
  });

  it('throws an error class per kind of refusal, with the fields, request id and first differing byte', async () => {
    const { users, payouts } = clients.merchant;
    await expect(users.get(randomUUID())).rejects.toBeInstanceOf(NotFoundError);
    const wrong = users.create({ phone_number: 'no number' });
    await expect(wrong).rejects.toMatchObject({
      name: 'InvalidRequestError',
      status: 422,
      errors: { phone_number: [expect.any(String)] },
      requestId: expect.any(String),
    });
    await expect(wrong).rejects.toBeInstanceOf(InvalidRequestError);
    const { apiKey } = app.merchant.credentials;
    const stranger = new Disburse({ baseUrl: app.url, apiKey, privateKey: 'wrong' });
    await expect(stranger.payouts.list().all()).rejects.toThrow(
      'the private key is not that of this api key',
    );
    const changing: typeof fetch = (input, init) =>
      fetch(input, {
        ...init,
        ...(init?.body ? { body: `${new TextDecoder().decode(init.body as Uint8Array)} ` } : {}),
      });
    const changed = new Disburse({ baseUrl: app.url, ...app.merchant.credentials, fetch: changing });
    const report = changed.payouts.report({
      user_id: randomUUID(),
      payout: { amount: '1', transaction_hash: `0x${'1'.repeat(64)}`, currency_code: 'USDC' },
    });
    await expect(report).rejects.toBeInstanceOf(AuthenticationError);
    await expect(report).rejects.toThrow(
      /byte \d+ of the string to sign differs: nothing here, " " at the service/,
    );
    await expect(payouts.get(randomUUID())).rejects.toThrow('404');
  });

  it('has called every documented operation of merchants', async () => {
    expect(await uncalled(app.url, clients.sent)).toEqual([]);
    expect(clients.sent.size).toBeGreaterThan(30);
  });
});
