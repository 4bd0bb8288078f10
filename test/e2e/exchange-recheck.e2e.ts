import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { OrderRecord } from '../../src/contexts/exchange/domain/order-record.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { TestChain } from '../support/chain.js';
import { eventually } from '../support/eventually.js';
import { ADDRESS, orderIn } from '../support/exchange-orders.js';
import { invoke, type Run } from '../support/operator.js';

describe('npm run exchange -- recheck', () => {
  let app: TestApp;
  /** The same token, and none of the deposits. */
  let other: TestChain;
  let order: OrderRecord;

  beforeAll(async () => {
    [app, other] = await Promise.all([
      startTestApp({ EXCHANGE_CHECK_INTERVAL_MS: '50', EXCHANGE_SETTLE_MS: '50', PAYOUT_FINALITY: '2' }),
      TestChain.start(),
    ]);
    order = orderIn(await app.exchange.open.order({ pair_id: 'USDCSOL', withdraw_address: ADDRESS }), 201);
    await app.exchange.open.order({ pair_id: 'USDCSOL', withdraw_address: ADDRESS });
    await app.chain.transfer(order.deposit_address, '100');
    await app.chain.mine();
    await eventually(async () => {
      const { orders } = JSON.parse((await run(app.chain.rpcUrl, 'orders')).printed) as {
        orders: { order_id: string; status: string }[];
      };
      return orders.some(({ order_id, status }) => order_id === order.id && status === 'completed');
    });
    // Later than the deposit: a node that is behind could not know it.
    await other.mine(3);
  });
  afterAll(() => Promise.all([app?.close(), other?.stop()]));

  const run = (rpcUrl: string, ...args: string[]): Promise<Run> => {
    const env = {
      DATABASE_URL: app.config.databaseUrl!,
      MASTER_KEY: app.config.masterKey!,
      CHAIN_RPC_URL: rpcUrl,
      USDC_ADDRESS: app.config.usdcAddress!,
      PAYOUT_FINALITY: '2',
    };
    return invoke('exchange', env, '--json', ...args);
  };
  const recheck = async (rpcUrl: string, ...args: string[]) => {
    const { printed, exitCode } = await run(rpcUrl, 'recheck', ...args);
    return [exitCode, JSON.parse(printed) as object];
  };
  const nothing = { on_chain: 0, missing: 0, unknown: 0, orders_elsewhere: 0, stopped: null, findings: [] };

  it('exits with 0 when every deposit is on the chain', async () => {
    const found = await recheck(app.chain.rpcUrl);
    expect(found).toEqual([null, { ...nothing, on_chain: 1, position: expect.stringMatching(/^[0-9]+$/) }]);
    const { position } = found[1] as { position: string };
    expect(await recheck(app.chain.rpcUrl, '--from', position)).toMatchObject([null, nothing]);
  });

  it('names a deposit that the chain does not have, and exits with 2', async () => {
    const finding = { order_id: order.id, found: 'missing', why: expect.stringContaining('is in no block') };
    expect(await recheck(other.rpcUrl)).toMatchObject([2, { ...nothing, missing: 1, findings: [finding] }]);
  });

  it('stops with exit code 1 when no node responds, and says where to continue', async () => {
    const [exitCode, stopped] = await recheck('http://127.0.0.1:9');
    expect([exitCode, stopped]).toMatchObject([1, { ...nothing, stopped: expect.any(String) }]);
    const { position } = stopped as { position: string };
    expect(await recheck(app.chain.rpcUrl, '--from', position)).toMatchObject([null, { on_chain: 1 }]);
  });

  it('exits with 1 when no node of the chain is configured: nothing was checked', async () => {
    const found = await recheck('');
    expect(found).toMatchObject([1, { ...nothing, orders_elsewhere: 1 }]);
  });
});
