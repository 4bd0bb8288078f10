import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { OrderRecord } from '../../../src/contexts/exchange/domain/order-record.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { TestChain } from '../../support/payouts/chain.js';
import { eventually } from '../../support/eventually.js';
import { ADDRESS, orderIn } from '../../support/exchange/exchange-orders.js';
import { invoke, type Run } from '../../support/programs/operator.js';

describe('npm run exchange -- recheck', () => {
  let app: TestApp;
  /** The same token, and none of the deposits. */
  let other: TestChain;
  let order: OrderRecord;
  let second: OrderRecord;

  beforeAll(async () => {
    [app, other] = await Promise.all([
      startTestApp({ EXCHANGE_CHECK_INTERVAL_MS: '50', EXCHANGE_SETTLE_MS: '50', PAYOUT_FINALITY: '2' }),
      TestChain.start(),
    ]);
    order = orderIn(await app.exchange.open.order({ pair_id: 'USDCSOL', withdraw_address: ADDRESS }), 201);
    await app.exchange.open.order({ pair_id: 'USDCSOL', withdraw_address: ADDRESS });
    second = orderIn(await app.exchange.open.order({ pair_id: 'USDCSOL', withdraw_address: ADDRESS }), 201);
    for (const { deposit_address } of [order, second]) await app.chain.transfer(deposit_address, '100');
    await app.chain.mine();
    await eventually(async () => {
      const { orders } = JSON.parse((await run(app.chain.rpcUrl, 'orders')).printed) as {
        orders: { order_id: string; status: string }[];
      };
      const completed = orders.filter(({ status }) => status === 'completed');
      return completed.length === 2;
    });
    // Later than the deposit: a node that is behind could not know it.
    await other.mine(10);
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
  /** The exit code, the deposits that were not found, and the sum. */
  const recheck = async (rpcUrl: string, ...args: string[]) => {
    const { printed, exitCode } = await run(rpcUrl, 'recheck', ...args);
    const sum = printed.indexOf('{\n');
    const findings = printed.slice(0, sum).split('\n').slice(0, -1);
    return [
      exitCode,
      findings.map((line) => JSON.parse(line) as object),
      JSON.parse(printed.slice(sum)) as object,
    ];
  };
  const nothing = { on_chain: 0, missing: 0, unknown: 0, orders_elsewhere: 0 };
  const position = expect.stringMatching(/^[0-9]+$/);
  const both = (found: string, why: string): object[] =>
    [order, second].map(({ id }) => ({
      order_id: id,
      deposit_id: expect.any(String),
      position,
      found,
      why: expect.stringContaining(why),
    }));

  it('exits with 0 when every deposit is on the chain', async () => {
    const found = await recheck(app.chain.rpcUrl);
    expect(found).toEqual([null, [], { ...nothing, on_chain: 2, position }]);
    const { position: end } = found[2] as { position: string };
    expect(await recheck(app.chain.rpcUrl, '--from', end)).toMatchObject([null, [], nothing]);
  });

  it('names each deposit that the chain does not have, and exits with 2', async () => {
    const findings = both('missing', 'is in no block');
    expect(await recheck(other.rpcUrl)).toEqual([2, findings, { ...nothing, missing: 2, position }]);
  });

  it('goes through every deposit and exits with 1 when no node responds', async () => {
    const [exitCode, findings, sum] = await recheck('http://127.0.0.1:9');
    expect([exitCode, findings, sum]).toEqual([1, both('unknown', ''), { ...nothing, unknown: 2, position }]);
    const [{ position: from }] = findings as [{ position: string }];
    // Begins with the order of the first finding: a retry passes over none.
    expect(await recheck(app.chain.rpcUrl, '--from', from)).toMatchObject([null, [], { on_chain: 2 }]);
  });

  it('exits with 1 when no node of the chain is configured: nothing was checked', async () => {
    expect(await recheck('')).toMatchObject([1, [], { ...nothing, orders_elsewhere: 2 }]);
  });
});
