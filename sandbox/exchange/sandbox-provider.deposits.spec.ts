import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Interface } from 'ethers';
import { WATCH } from '../../src/contexts/exchange/watch/watch-schedule.js';
import {
  SandboxExchangeHarness,
  type TestOrder,
} from '../../test/support/exchange/sandbox-exchange-harness.js';
import { eventually } from '../../test/support/eventually.js';

const TOKEN = new Interface(['function mint(address to, uint256 amount)']);
/** anvil calls a block safe that is 32 blocks old. */
const SAFE = 32;

describe('deposits on the dev chain', () => {
  let harness: SandboxExchangeHarness;

  beforeAll(async () => {
    harness = await SandboxExchangeHarness.start({ PAYOUT_FINALITY: '3' });
    harness.watch();
  });
  afterEach(() => harness.node.comeBack());
  afterAll(() => harness.close());

  const blockHash = async (number: number) => (await harness.chain.provider.getBlock(number))!.hash;
  const rawOf = (hash: string) => harness.chain.rpc('eth_getRawTransactionByHash', [hash]);
  const broadcast = (raw: unknown) => harness.chain.rpc('eth_sendRawTransaction', [raw]);
  const mint = async ({ address }: TestOrder, minor: bigint): Promise<void> => {
    const data = TOKEN.encodeFunctionData('mint', [address, minor]);
    await harness.chain.funded.sendTransaction({ to: harness.chain.usdcAddress, data, gasLimit: 100_000n });
  };

  it('are pending until their third confirmation, and then count with the time of their block', async () => {
    const order = await harness.order();
    const { hash, blockNumber } = await harness.chain.transfer(order.address, '100.000001');
    const pending = { deposits: [], isDepositPending: true };
    expect(await harness.provider.status(order)).toMatchObject(pending);
    await harness.chain.mine(1);
    expect(await harness.provider.status(order)).toMatchObject(pending);
    await harness.chain.mine(1);
    const { deposits, isDepositPending, missing } = await harness.provider.status(order);
    expect([isDepositPending, missing]).toEqual([false, []]);
    const block = (await harness.chain.provider.getBlock(blockNumber))!;
    const at = new Date(
      Math.min(block.timestamp * 1000, Date.parse(deposits[0]!.deposited_at)),
    ).toISOString();
    const id = `${hash}:0:${block.hash}:100000001`;
    expect(deposits).toEqual([
      { deposit_id: id, amount: '100.000001', transaction_hash: hash, deposited_at: at },
    ]);
  });

  it('count as two if one transaction contains two transfers', async () => {
    const order = await harness.order();
    const hash = await harness.chain.twoTransfers(order.address, '4');
    await harness.chain.mine(2);
    const { deposits } = await harness.provider.status(order);
    expect(deposits.map(({ deposit_id: id, amount }) => [id.split(':').slice(0, 2), amount])).toEqual([
      [[hash, '0'], '4'],
      [[hash, '1'], '4'],
    ]);
  });

  it('trigger a poll of their order when they appear and when they become final', async () => {
    const order = await harness.order();
    const later = `now() + interval '1 day'`;
    const polled = () =>
      eventually(async () => {
        const rows = await harness.db.database.query(
          `update work.items set due_at = ${later} where key = $1 and due_at <= now() returning key`,
          [order.order_id],
        );
        return rows.length === 1;
      });
    await harness.db.database.query(
      `insert into work.items (kind, key, share, line, due_at) values ($1, $2, 'sandbox', 1, ${later})`,
      [WATCH, order.order_id],
    );
    await harness.chain.transfer(order.address, '1');
    await polled();
    await harness.chain.mine(2);
    await polled();
  });

  it('are missing once a reorganisation removes their block, and are new in another block', async () => {
    const order = await harness.order();
    const { hash } = await harness.chain.transfer(order.address, '7');
    const raw = await rawOf(hash);
    await harness.chain.mine(4);
    const [first] = (await harness.provider.status(order)).deposits;
    await harness.chain.reorg(5);
    expect(await harness.provider.status(order)).toMatchObject({
      deposits: [],
      missing: [first!.deposit_id],
    });
    await broadcast(raw);
    const number = await harness.chain.provider.getBlockNumber();
    await harness.chain.mine(3);
    expect(await harness.provider.status(order)).toMatchObject({
      deposits: [{ deposit_id: `${hash}:0:${await blockHash(number)}:7000000`, amount: '7' }],
      missing: [first!.deposit_id],
    });
  });

  it('are missing at one order and new at another if a reorganisation changes the paid address', async () => {
    const [a, b] = [await harness.order(), await harness.order()];
    const payer = await harness.chain.payer('100');
    const snapshot = await harness.chain.rpc('evm_snapshot');
    await payer.pays(a.address);
    const { hash } = await harness.chain.funded.sendTransaction({ to: payer.address, gasLimit: 200_000n });
    await harness.chain.mine(2);
    expect(await harness.amounts(a)).toEqual(['100']);
    const raw = await rawOf(hash);
    await harness.chain.rpc('evm_revert', [snapshot]);
    await payer.pays(b.address);
    await broadcast(raw);
    harness.chain.funded.reset();
    await harness.chain.mine(3);
    expect((await harness.provider.status(b)).deposits).toMatchObject([
      { amount: '100', transaction_hash: hash },
    ]);
    expect(await harness.provider.status(a)).toMatchObject({ deposits: [], missing: [expect.any(String)] });
  });

  it.each([1n, 500_000n, 2n ** 255n])('are listed with the exact amount of %s minor units', async (minor) => {
    const order = await harness.order();
    await mint(order, 0n);
    await mint(order, minor);
    await harness.chain.mine(2);
    expect(await harness.amounts(order)).toEqual([
      `${minor}`
        .padStart(7, '0')
        .replace(/(\d{6})$/, '.$1')
        .replace(/\.?0+$/, ''),
    ]);
  });

  it('do not complete an order whose settlement was forged in the table', async () => {
    const order = await harness.order();
    await harness.db.database.query(
      `update exchange.sandbox_orders set settled_at = now() - interval '1 hour', settled_amount_to = '1000',
         settled_mac = 'forged' where order_id = $1`,
      [order.order_id],
    );
    expect((await harness.provider.status(order)).outcome).toBeNull();
  });

  it('are unavailable while the node is on another chain', async () => {
    const order = await harness.order();
    harness.node.tamper(({ method }) => (method === 'eth_chainId' ? { result: '0x1' } : undefined));
    const unavailable = { name: 'ProviderUnavailable' };
    await expect(harness.provider.status(order)).rejects.toMatchObject(unavailable);
    await expect(harness.order()).rejects.toMatchObject(unavailable);
  });
});

describe('a dev chain with a safe head', () => {
  let harness: SandboxExchangeHarness;

  beforeAll(async () => {
    harness = await SandboxExchangeHarness.start({ PAYOUT_FINALITY: 'safe' });
    await harness.chain.mine(SAFE);
  });
  afterAll(() => harness.close());

  it('counts a deposit once its block is safe, and still counts it if the safe head goes back', async () => {
    const order = await harness.order();
    await harness.chain.transfer(order.address, '32');
    await harness.chain.mine(SAFE - 1);
    expect(await harness.provider.status(order)).toMatchObject({ deposits: [], isDepositPending: true });
    await harness.chain.mine(1);
    expect(await harness.amounts(order)).toEqual(['32']);
    const earlier = await harness.chain.rpc('eth_getBlockByNumber', ['0x3', false]);
    harness.node.tamper(({ method, params }) =>
      method === 'eth_getBlockByNumber' && params[0] === 'safe' ? { result: earlier } : undefined,
    );
    expect(await harness.amounts(order)).toEqual(['32']);
  });
});
