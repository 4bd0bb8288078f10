import { describe, expect, it } from '@jest/globals';
import { CommandBus } from '@nestjs/cqrs';
import { randomBytes, randomUUID } from 'node:crypto';
import {
  RevokeCredential,
  RollCredential,
} from '../../../src/contexts/access/credentials/credentials.commands.js';
import type { PayOrder } from '../../../src/contexts/exchange/pay/pay.dto.js';
import { sharedApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { ExchangeClient } from '../../support/exchange/exchange-client.js';
import {
  ADDRESS,
  navigate,
  OTHER_ADDRESS,
  signedBy,
  signedUrl,
  Visitor,
  widgetUrl,
} from '../../support/exchange/pay-page.js';

const app = await sharedApp();
const { signing, open } = app.exchange;

const unsigned = { api_key: open.credentials.apiKey, withdraw_address: ADDRESS };
const jsonIn = async (response: Response) => (await response.json()) as PayOrder;

describe('a session of the pay page (contract.md 26.3)', () => {
  it('ends once the secret of its link is revoked, unlike a session of the other secret', async () => {
    const key = await app.newExchangeKey(true);
    const bus = app.app.get(CommandBus);
    const { apiKey } = key.credentials;
    const sql = 'select credential_id as id from access.credentials where key_id = $1';
    const [{ id }] = (await app.database.query<{ id: string }>(sql, [apiKey])) as [{ id: string }];
    const owner = { merchant_id: app.merchant.credentials.apiKey, operator_id: null };
    const rolled = { ...owner, kind: 'exchange', api_key: apiKey, overlap_seconds: 3600 } as const;
    const operation = { id: randomUUID(), reason: 'rotation', actor: 'spec' };
    const { secret } = await bus.execute(new RollCredential(id, rolled, operation));
    const other = new ExchangeClient(app.url, { apiKey, secret: secret! });
    await eventually(async () => (await navigate(widgetUrl(app, signedBy(other)))).status === 200);
    const openedBy = (signer: ExchangeClient) =>
      Promise.all(
        [widgetUrl(app, signedBy(signer)), signedUrl(app, signer)].map((url) => Visitor.at(app, url)),
      );
    const [old, fresh] = [await openedBy(key), await openedBy(other)];
    const orders = await Promise.all(old.map(async (each) => (await each.order()).order.id));
    const statuses = (visitors: readonly Visitor[]) =>
      Promise.all(visitors.map(async (each, n) => (await each.call(`orders/${orders[n]}`)).status));
    expect(await statuses(old)).toEqual([200, 200]);

    await bus.execute(new RevokeCredential(id, owner));
    await eventually(async () => (await statuses(old)).every((status) => status === 401));
    expect(await statuses(fresh)).toEqual([200, 200]);
  });
});

describe('the calls of the pay page', () => {
  it('401: refuse a missing or forged session', async () => {
    const { session } = await Visitor.at(app, widgetUrl(app, unsigned));
    const [encoded = '', ...rest] = session.split('.');
    const other = Buffer.from(encoded, 'base64url').toString().replace(ADDRESS, OTHER_ADDRESS);
    const forged = [Buffer.from(other).toString('base64url'), ...rest].join('.');
    for (const token of ['', forged]) {
      const visitor = new Visitor(app, token);
      for (const path of ['quote?pair_id=USDCSOL', `orders/${randomUUID()}`])
        expect((await visitor.call(path)).status).toBe(401);
      expect((await visitor.create()).status).toBe(401);
    }
  });

  it('return a quote for an amount to pay or for an amount to receive', async () => {
    const visitor = await Visitor.at(app, widgetUrl(app, unsigned));
    const quote = async (query: string) => {
      const response = await visitor.call(`quote?pair_id=USDCSOL${query}`);
      return { status: response.status, ...((await response.json()) as Record<string, string>) };
    };
    expect(await quote('')).toMatchObject({ amount_from: '100', amount_to: '0.5', minimum: '5' });
    expect(await quote('&amount_from=20')).toMatchObject({ amount_from: '20', amount_to: '0.1' });
    expect(await quote('&amount_to=0.100000001')).toMatchObject({ amount_from: '20.000001' });
    for (const wrong of [
      '&amount_from=0',
      '&amount_from=',
      '&amount_from=5001',
      '&amount_to=0.02',
      '&amount_to=9e9',
    ])
      expect([wrong, (await quote(wrong)).status]).toEqual([wrong, 422]);
    expect((await quote('&amount_to=1&amount_to=2')).status).toBe(422);
    for (const pair of ['', 'BTCSOL']) expect((await visitor.call(`quote?pair_id=${pair}`)).status).toBe(422);
  });

  it('create one order per request_id, to the address of the link (contract.md 26.2)', async () => {
    const url = signedUrl(app, signing, { user_id: 'u-1', withdraw_address_memo: '77' });
    const request = randomBytes(16).toString('hex');
    const [visitor, reloaded] = [await Visitor.at(app, url), await Visitor.at(app, url)];
    const responses = await Promise.all(
      [visitor, visitor, reloaded, reloaded].map((each) => each.create('100', request)),
    );
    responses.push(await reloaded.create('100', request));
    const orders = await Promise.all(responses.map(async (each) => (await jsonIn(each)).order));
    expect(new Set(orders.map(({ id }) => id)).size).toBe(1);
    expect(orders[0]).toMatchObject({
      withdraw_address: ADDRESS,
      withdraw_address_memo: '77',
      withdraw_address_tag: null,
      user_id: 'u-1',
      status: 'pending',
      amount_from: '100',
      amount_to: '0.5',
    });
    // The same nonce of another payer creates another order, without a trace of this one.
    const stranger = await Visitor.at(app, signedUrl(app, signing, { user_id: 'u-2' }));
    const theirs = await jsonIn(await stranger.create('100', request));
    expect(theirs.order.id).not.toBe(orders[0]!.id);
  });

  it('422: refuse an impossible order', async () => {
    const visitor = await Visitor.at(app, widgetUrl(app, unsigned));
    const request_id = randomBytes(16).toString('hex');
    const good = { pair_id: 'USDCSOL', amount_from: '100', request_id };
    const faults = [
      { pair_id: 'BTCSOL' },
      { amount_from: 100 },
      { amount_from: '5001' },
      { request_id: 'x' },
    ];
    for (const wrong of faults)
      expect((await visitor.call('orders', { ...good, ...wrong })).status).toBe(422);
    expect((await visitor.call('orders', [])).status).toBe(400);
    const sneaky = { ...good, withdraw_address: OTHER_ADDRESS, user_id: 'x', keyId: 'x' };
    const { order } = await jsonIn(await visitor.call('orders', sneaky));
    expect(order).toMatchObject({ withdraw_address: ADDRESS, user_id: null });
  });

  it('404: hide an order from other payers in every call', async () => {
    const visitor = await Visitor.at(app, signedUrl(app, signing, { user_id: 'u' }));
    const { order } = await visitor.order();
    const others = await Promise.all(
      [
        signedUrl(app, signing, { user_id: 'v' }),
        signedUrl(app, signing, { user_id: 'u', withdraw_address_memo: '1' }),
        signedUrl(app, signing, { user_id: 'u', withdraw_address_tag: '1' }),
        signedUrl(app, signing, { user_id: 'u', withdraw_address: OTHER_ADDRESS }),
        signedUrl(app, open, { user_id: 'u' }),
      ].map((url) => Visitor.at(app, url)),
    );
    for (const other of others) {
      expect((await other.call(`orders/${order.id}`)).status).toBe(404);
      for (const act of ['cancel', 'mark_as_paid'])
        expect((await other.call(`orders/${order.id}/${act}`, {})).status).toBe(404);
    }
    expect((await visitor.call(`orders/${randomUUID()}`)).status).toBe(404);
    expect((await visitor.call('orders/x')).status).toBe(404);
    expect((await visitor.call(`orders/${order.id}/refund`, {})).status).toBe(404);
    expect((await visitor.call(`orders/${order.id}`)).status).toBe(200);
  });

  it('pay an open order of the payer with test money', async () => {
    const visitor = await Visitor.at(app, widgetUrl(app, unsigned));
    const { order } = await visitor.order();
    const path = `orders/${order.id}/test_payment`;
    const stranger = await Visitor.at(app, signedUrl(app, open, { user_id: 'stranger' }));
    expect((await stranger.call(path, {})).status).toBe(404);
    expect((await new Visitor(app, 'x').call(path, {})).status).toBe(401);
    const mark = await visitor.call(`orders/${order.id}/mark_as_paid`, {});
    expect([mark.status, (await visitor.call(`orders/${order.id}/cancel`, {})).status]).toEqual([200, 409]);
    expect((await visitor.call(path, {})).status).toBe(200);
    await eventually(async () => {
      const { order: now, transfers } = await jsonIn(await visitor.call(`orders/${order.id}`));
      return now.status === 'completed' && transfers[0]?.kind === 'deposit' && transfers[0].amount === '100';
    });
    expect((await visitor.call(path, {})).status).toBe(409);
  });
});
