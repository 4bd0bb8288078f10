import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { onTestApp } from '../../support/app.js';
import { expectAuditPasses } from '../../support/audit-passes.js';
import { SANDBOX_NAMES } from '../../../src/contexts/onboarding/identity/image-kind.js';
import { eventually } from '../../support/eventually.js';
import { ADDRESS, orderIn } from '../../support/exchange/exchange-orders.js';
import type { ApiResponse, SignedClient } from '../../support/http/signed-client.js';
import { createPayee, reported, settledPayout } from '../../support/payouts/payout-calls.js';
import { TestReceiver } from '../../support/webhooks/receiver.js';

const SANDBOX = '/merchants/v1/sandbox';
interface Endpoint {
  readonly id: string;
  readonly status: string;
  readonly disabled_cause: string | null;
}

describe('the switches of the sandbox', () => {
  // A separate service, because its whole log is audited.
  const app = onTestApp();
  const expire = (id: string, by: SignedClient = app.merchant): Promise<ApiResponse> =>
    by.post(`${SANDBOX}/payouts/${id}/expire`);
  const fail = (id: string, by: SignedClient = app.merchant): Promise<ApiResponse> =>
    by.post(`${SANDBOX}/orders/${id}/fail`);
  const breakEndpoint = (id: string, by: SignedClient = app.merchant): Promise<ApiResponse> =>
    by.post(`${SANDBOX}/webhook_endpoints/${id}/break`);
  const createdOrder = async () =>
    orderIn(await app.exchange.open.order({ pair_id: 'USDCSOL', withdraw_address: ADDRESS }), 201);

  it('expire a payout at once: its webhook is payout.failed, and the audit finds no difference', async () => {
    const receiver = await TestReceiver.start();
    await app.merchant.post('/merchants/v1/webhook_endpoints', { webhook_endpoint: { url: receiver.url } });
    const payee = await createPayee(app.merchant);
    const { id } = await reported(app.merchant, payee.id);
    expect((await expire(id, app.secondMerchant)).status).toBe(404);
    for (let time = 1; time <= 2; time += 1) {
      const response = await expire(id);
      expect([response.status, response.json().payout]).toEqual([
        200,
        expect.objectContaining({ id, status: 'expired', reason: expect.stringContaining('not found') }),
      ]);
    }
    const failed = await eventually(() =>
      receiver.received.find(({ body }) => body.includes('payout.failed')),
    );
    expect(failed.body).toContain(id);
    await receiver.stop();
    await expectAuditPasses(app.config.databaseUrl!);
  });

  it('do not expire a received or an unknown payout', async () => {
    const payee = await createPayee(app.merchant);
    const { hash } = await app.chain.transfer(payee.wallet, '2');
    const { id } = await reported(app.merchant, payee.id, { amount: '2', transaction_hash: hash });
    await settledPayout(app.merchant, id);
    expect((await expire(id)).status).toBe(409);
    expect((await expire(randomUUID())).status).toBe(404);
  });

  it('fail an open order of the merchant, but no ended order and none of another merchant', async () => {
    const order = await createdOrder();
    expect((await fail(order.id, app.secondMerchant)).status).toBe(404);
    for (let time = 1; time <= 2; time += 1)
      expect(orderIn(await fail(order.id))).toMatchObject({ status: 'failed', reason: 'no_liquidity' });
    expect(orderIn(await app.exchange.open.act(order.id, 'refresh', ADDRESS)).status).toBe('failed');
    const cancelled = await createdOrder();
    await app.exchange.open.act(cancelled.id, 'cancel', ADDRESS);
    expect((await fail(cancelled.id)).status).toBe(409);
    await expectAuditPasses(app.config.databaseUrl!);
  });

  it('disable an endpoint as failing deliveries do, until the merchant enables it again', async () => {
    const path = '/merchants/v1/webhook_endpoints';
    const webhook_endpoint = { url: 'http://127.0.0.1:9/broken' };
    const endpointIn = (response: ApiResponse): Endpoint => response.json().webhook_endpoint;
    const { id } = endpointIn(await app.merchant.post(path, { webhook_endpoint }));
    expect((await breakEndpoint(id, app.secondMerchant)).status).toBe(404);
    const broken = endpointIn(await breakEndpoint(id));
    expect(broken).toMatchObject({ id, status: 'disabled', disabled_cause: 'failing' });
    expect(endpointIn(await app.merchant.get(`${path}/${id}`))).toMatchObject(broken);
    const change = { webhook_endpoint: { status: 'enabled' } };
    const enabled = await app.merchant.call({ method: 'PATCH', path: `${path}/${id}`, body: change });
    expect(endpointIn(enabled)).toMatchObject({ status: 'enabled', disabled_cause: null });
  });

  it('have the documented outcome for each amount of a sandbox transfer', async () => {
    const document = (await (await fetch(`${app.url}/openapi.json`)).json()) as {
      tags: readonly { readonly name: string; readonly description: string }[];
    };
    const { description } = document.tags.find(({ name }) => name === 'Sandbox')!;
    for (const name of Object.values(SANDBOX_NAMES)) expect(description).toContain(`\`${name}\``);
    const transfer = async (to: string, amount: string): Promise<string> =>
      (await app.merchant.post(`${SANDBOX}/transfers`, { to, amount })).json().transaction_hash;
    const payee = await createPayee(app.merchant);
    const hash = await transfer(payee.wallet, '3');
    const paid = await reported(app.merchant, payee.id, { amount: '3', transaction_hash: hash });
    expect((await settledPayout(app.merchant, paid.id)).status).toBe('received');
    const paidOrder = async (amount: string) => {
      const { id, deposit_address } = await createdOrder();
      await transfer(deposit_address, amount);
      return eventually(async () => {
        const order = orderIn(await app.exchange.open.act(id, 'refresh', ADDRESS));
        return order.status === 'completed' ? order : null;
      });
    };
    expect(await paidOrder('100')).toMatchObject({ amount_to: '0.5', amount_refundable: '0' });
    expect(await paidOrder('5001')).toMatchObject({ amount_from: '5000', amount_refundable: '1' });
  });
});
