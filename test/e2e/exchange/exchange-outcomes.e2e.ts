import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { OrderRecord } from '../../../src/contexts/exchange/orders/order-record.js';
import { startService } from '../../../sandbox/service.js';
import type { Service } from '../../../src/service.js';
import { startTestApp, STORES, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { ExchangeClient } from '../../support/exchange/exchange-client.js';
import { ADDRESS, expectProblem, orderIn } from '../../support/exchange/exchange-orders.js';
import { programsFor } from '../../support/programs/cli.js';

/** Outcomes of orders with real deposits on a chain, for merchant and operator (contract.md 23). */
describe.each(STORES)('an exchange order with events in %s', (_name, settings) => {
  let app: TestApp;
  /** Creates orders that expire after a second. */
  let brief: Service;

  beforeAll(async () => {
    // A separate service, because of finality, reorganisations, and a check of every deposit.
    app = await startTestApp({ PAYOUT_FINALITY: '2', ...settings });
    brief = await startService({ ...app.config, roles: ['api'], exchangeOrderExpirySeconds: 1 });
  });
  afterAll(async () => {
    await brief?.close();
    await app?.close();
  });

  const newOrder = async (by = app.exchange.open): Promise<OrderRecord> =>
    orderIn(await by.order({ pair_id: 'USDCSOL', withdraw_address: ADDRESS }), 201);
  const newShortOrder = (): Promise<OrderRecord> =>
    newOrder(new ExchangeClient(brief.address!, app.exchange.open.credentials));
  const pay = async ({ deposit_address }: OrderRecord, amount: string): Promise<string> => {
    const { hash } = await app.chain.transfer(deposit_address, amount);
    await app.chain.mine();
    return hash;
  };
  const read = async (id: string): Promise<OrderRecord> => orderIn(await app.exchange.open.read(id, ADDRESS));
  /** Waits until the watch has polled the status. */
  const until = (id: string, shows: (order: OrderRecord) => boolean): Promise<OrderRecord> =>
    eventually(async () => {
      const order = await read(id);
      return shows(order) && order;
    });
  it('has a second deposit that is late, refundable and listed for the operator until it is refunded', async () => {
    const order = await newOrder();
    await pay(order, '100');
    await until(order.id, ({ status }) => status === 'completed');
    const hash = await pay(order, '33.5');
    const after = await until(order.id, ({ late_deposits }) => late_deposits.length > 0);
    expect(after).toMatchObject({
      status: 'completed',
      amount_received: '100',
      amount_refundable: '33.5',
      late_deposits: [{ amount: '33.5', transaction_hash: hash }],
    });
    const [ada, bob] = [await app.newAdmin(), await app.newAdmin()];
    const refundable = async (): Promise<string | undefined> =>
      (await ada.get('/orders?refundable=true')).json().orders.find(({ id }: OrderRecord) => id === order.id)
        ?.amount_refundable;
    expect(await eventually(refundable)).toBe('33.5');
    const payer = await app.chain.funded.getAddress();
    const back = (await app.chain.transfer(payer, '33.5')).hash;
    const refund = async (transaction_hash: string) => {
      const body = { amount: '33.5', transaction_hash, reason: 'it came twice' };
      const requested = await ada.change(`/orders/${order.id}`, '/refunds', body);
      if (requested.status !== 202) return requested;
      const { operation } = requested.json();
      return bob.post(`/operations/${operation.id}/approve`, { reason: 'agreed' });
    };
    expect((await refund(back)).text).toContain('The block of the transaction is not final yet');
    await app.chain.mine();
    expect((await refund(back)).status).toBe(200);
    expect((await refund(back.toUpperCase().replace('0X', '0x'))).status).toBe(200);
    await eventually(async () => (await refundable()) === undefined);
    expect((await read(order.id)).amount_refundable).toBe('0');
  });

  it('an order cannot be cancelled with an unconfirmed deposit until a reorganisation removes the deposit', async () => {
    const order = await newOrder();
    const snapshot = await app.chain.rpc('evm_snapshot', []);
    await app.chain.transfer(order.deposit_address, '100');
    expectProblem(await app.exchange.open.act(order.id, 'cancel', ADDRESS), 409);
    expect((await read(order.id)).amount_received).toBe('0');
    await app.chain.rpc('evm_revert', [snapshot]);
    app.chain.funded.reset();
    await app.chain.mine(2);
    const cancelled = await eventually(async () => {
      const response = await app.exchange.open.act(order.id, 'cancel', ADDRESS);
      return response.status === 200 && orderIn(response);
    });
    expect(cancelled).toMatchObject({ status: 'cancelled', amount_received: '0', amount_refundable: '0' });
    await pay(order, '100');
    expect(await until(order.id, ({ late_deposits }) => late_deposits.length > 0)).toMatchObject({
      status: 'cancelled',
      amount_refundable: '100',
    });
  });

  it('an order expires if no deposit arrives in time, and a later deposit is refundable', async () => {
    const order = await newShortOrder();
    await until(order.id, ({ status }) => status === 'expired');
    expectProblem(await app.exchange.open.act(order.id, 'mark_as_paid', ADDRESS), 409);
    await pay(order, '100');
    expect(await until(order.id, ({ late_deposits }) => late_deposits.length > 0)).toMatchObject({
      status: 'expired',
      reason: null,
      amount_received: '0',
      amount_refundable: '100',
    });
  });

  it('an order passes the recheck of its deposits on the chain, which exits with 1 without a node', async () => {
    const recheck = async (CHAIN_RPC_URL: string, ...args: string[]) => {
      const env = { CHAIN_RPC_URL, USDC_ADDRESS: app.config.usdcAddress!, PAYOUT_FINALITY: '2' };
      const { printed, exitCode } = await programsFor(app, env)('exchange', '--json', 'recheck', ...args);
      const sum = JSON.parse(printed.slice(printed.indexOf('{\n'))) as Record<string, unknown>;
      return { exitCode, sum };
    };
    const order = await newOrder();
    await pay(order, '100');
    await until(order.id, ({ status }) => status === 'completed');
    const { exitCode, sum } = await recheck(app.chain.rpcUrl);
    expect(exitCode).toBeNull();
    expect(sum).toMatchObject({ missing: 0, unknown: 0, orders_elsewhere: 0 });
    const rest = await recheck(app.chain.rpcUrl, '--from', String(sum['position']));
    expect(rest.sum).toMatchObject({ on_chain: 0 });
    expect(await recheck('')).toMatchObject({ exitCode: 1, sum: { on_chain: 0 } });
  });
});
