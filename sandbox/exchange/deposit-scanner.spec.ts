import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Interface } from 'ethers';
import { ScanLab, type LabOrder } from '../../test/support/scan-lab.js';
import { newId } from '../../src/kernel/ids.js';

const TOKEN = new Interface(['function mint(address to, uint256 amount)']);
/** Deposits need three blocks, so that there is something before they count. */
const THREE = { PAYOUT_FINALITY: '3' };

describe('the scan for deposits', () => {
  let lab: ScanLab;

  beforeAll(async () => {
    lab = await ScanLab.open();
    await lab.restart(THREE);
  });
  afterAll(() => lab.close());

  const amounts = async (order: LabOrder): Promise<readonly string[]> =>
    (await lab.scan.provider.status(order)).deposits.map(({ amount }) => amount);
  const counted = (order: LabOrder, count = 1) =>
    lab.until(lab.scan, order, ({ deposits }) => deposits.length === count);
  const awaited = (order: LabOrder, is = true) =>
    lab.until(lab.scan, order, ({ isDepositUnderWay }) => isDepositUnderWay === is);
  /** The same bytes, and so the same hash, as its sender would broadcast again after it was dropped. */
  const rawOf = (hash: string): Promise<unknown> => lab.chain.rpc('eth_getRawTransactionByHash', [hash]);
  const minedAgain = async (raw: unknown): Promise<void> =>
    void (await lab.chain.rpc('eth_sendRawTransaction', [raw]));
  const blockHash = async (number: number) => (await lab.chain.provider.getBlock(number))!.hash;

  it('reports a transfer at once, and counts it once it has its confirmations', async () => {
    const order = await lab.order(lab.scan);
    const { hash, blockNumber } = await lab.chain.transfer(order.address, '100.000001');
    expect((await awaited(order)).deposits).toEqual([]);
    await lab.chain.mine(1);
    await lab.caughtUp();
    expect(await awaited(order)).toMatchObject({ deposits: [] });
    await lab.chain.mine(1);
    const { deposits, isDepositUnderWay, missing } = await counted(order);
    expect([isDepositUnderWay, missing]).toEqual([false, []]);
    const block = (await lab.chain.provider.getBlock(blockNumber))!;
    const at = new Date(Math.min(block.timestamp * 1000, Date.parse(deposits[0]!.at))).toISOString();
    const id = `${hash}:0:${block.hash}:100000001`;
    expect(deposits).toEqual([{ id, amount: '100.000001', transactionHash: hash, at }]);
  });

  it('counts two transfers of one transaction, each by its place in it', async () => {
    const order = await lab.order(lab.scan);
    const hash = await lab.chain.twoTransfers(order.address, '4');
    await lab.chain.mine(2);
    const { deposits } = await counted(order, 2);
    expect(deposits.map(({ id, amount }) => [id.split(':').slice(0, 2), amount])).toEqual([
      [[hash, '0'], '4'],
      [[hash, '1'], '4'],
    ]);
  });

  it('has an order polled when something comes for it, and when it counts', async () => {
    const order = await lab.order(lab.scan);
    const due = async (): Promise<boolean> => {
      const items = await lab.db.database.query('select from work.items where key = $1', [order.orderId]);
      return items.length === 1;
    };
    const rest = 'delete from work.items where key = $1';
    await lab.db.database.query(
      `insert into exchange.watches (order_id, key_id, pair_id, provider, created_at, status)
       values ($1, $2, 'USDCSOL', 'sandbox', now(), 'pending')`,
      [order.orderId, newId()],
    );
    await lab.chain.transfer(order.address, '1');
    await awaited(order);
    expect(await due()).toBe(true);
    await lab.db.database.query(rest, [order.orderId]);
    await lab.caughtUp();
    expect(await due()).toBe(false);
    await lab.chain.mine(2);
    await counted(order);
    expect(await due()).toBe(true);
  });

  it('never counts a transfer that a reorganisation removes before its confirmations', async () => {
    const order = await lab.order(lab.scan);
    await lab.chain.transfer(order.address, '5');
    await awaited(order);
    await lab.chain.reorg(1);
    await awaited(order, false);
    await lab.chain.mine(5);
    await lab.caughtUp();
    expect(await lab.scan.provider.status(order)).toMatchObject({ deposits: [], missing: [] });
  });

  it('a confirmed deposit whose block is gone is missing, and one in another block is another deposit', async () => {
    const order = await lab.order(lab.scan);
    const { hash } = await lab.chain.transfer(order.address, '7');
    const raw = await rawOf(hash);
    await lab.chain.mine(4);
    const [first] = (await counted(order)).deposits;
    await lab.chain.reorg(5);
    await lab.chain.mine(4);
    // Until the scan has come to the reorganisation, the row is neither a deposit nor missing.
    const missing = await lab.until(lab.scan, order, ({ missing: found }) => found?.length === 1);
    expect(missing).toMatchObject({ deposits: [], missing: [first!.id] });
    await minedAgain(raw);
    const number = await lab.chain.provider.getBlockNumber();
    await lab.chain.mine(3);
    const again = await counted(order);
    expect(again.deposits).toMatchObject([
      { id: `${hash}:0:${await blockHash(number)}:7000000`, amount: '7' },
    ]);
    expect(again.missing).toEqual([first!.id]);
  });

  it('a transaction that pays another order after a reorganisation is a missing deposit of the one, and a new one of the other', async () => {
    const [a, b] = [await lab.order(lab.scan), await lab.order(lab.scan)];
    const payer = await lab.chain.payer('100');
    const snapshot = await lab.chain.rpc('evm_snapshot');
    await payer.pays(a.address);
    const { hash } = await lab.chain.funded.sendTransaction({ to: payer.address, gasLimit: 200_000n });
    await lab.chain.mine(2);
    await counted(a);
    const raw = await rawOf(hash);
    await lab.chain.rpc('evm_revert', [snapshot]);
    await payer.pays(b.address);
    await minedAgain(raw);
    lab.chain.funded.reset();
    await lab.chain.mine(3);
    expect((await counted(b)).deposits).toMatchObject([{ amount: '100', transactionHash: hash }]);
    expect(await lab.scan.provider.status(a)).toMatchObject({ deposits: [], missing: [expect.any(String)] });
  });

  it('finds what came while no process ran, however long ago', async () => {
    const orders = [await lab.order(lab.scan), await lab.order(lab.scan), await lab.order(lab.scan)];
    await lab.scan.stop();
    await lab.chain.transfer(orders[0]!.address, '11');
    for (let n = 0; n < 6; n += 1) await lab.chain.mine(100);
    await lab.chain.transfer(orders[1]!.address, '12');
    for (let n = 0; n < 6; n += 1) await lab.chain.mine(100);
    await lab.chain.transfer(orders[2]!.address, '13');
    await lab.chain.mine(2);
    await lab.restart(THREE);
    await Promise.all(orders.map((order) => counted(order)));
    expect(await Promise.all(orders.map(amounts))).toEqual([['11'], ['12'], ['13']]);
  });

  it('counts each deposit once while several processes scan', async () => {
    const others = await Promise.all([lab.start(THREE), lab.start(THREE)]);
    const orders = await Promise.all(others.flatMap((each) => [lab.order(each), lab.order(each)]));
    for (let round = 0; round < 5; round += 1)
      for (const order of orders) await lab.chain.transfer(order.address, '2');
    await lab.chain.mine(2);
    for (const order of orders) await counted(order, 5);
    await Promise.all(others.map((each) => each.stop()));
    await lab.chain.mine(3);
    await lab.caughtUp();
    for (const order of orders) expect(await amounts(order)).toEqual(['2', '2', '2', '2', '2']);
  });

  it('stores no step that began before another process stored one', async () => {
    const { deposits } = lab.scan;
    const state = await deposits.state();
    const step = { base: -1, places: state.places, deposits: [], awaited: [] };
    await lab.caughtUp();
    expect(await deposits.store(state, step)).toBeNull();
  });

  it('follows a dev chain that was set back to an older state, and one that was set up again', async () => {
    const order = await lab.order(lab.scan);
    const snapshot = await lab.chain.rpc('evm_snapshot');
    await lab.chain.transfer(order.address, '22');
    await lab.chain.mine(5);
    const [gone] = (await counted(order)).deposits;
    await lab.chain.rpc('evm_revert', [snapshot]);
    lab.chain.funded.reset();
    await lab.chain.transfer(order.address, '23');
    await lab.chain.mine(2);
    await lab.until(lab.scan, order, ({ deposits }) => deposits[0]?.amount === '23');
    await lab.caughtUp();
    expect(await lab.scan.provider.status(order)).toMatchObject({
      deposits: [{ amount: '23' }],
      missing: [gone!.id],
    });
    await lab.scan.stop();
    // Of the places that were scanned the chain has none: everything is read again, and everything is still there.
    await lab.db.database.query(`update exchange.sandbox_scan set places = '[{"number": 1, "hash": "0x0"}]'`);
    await lab.restart(THREE);
    await lab.caughtUp();
    expect(await amounts(order)).toEqual(['23']);
  });

  it('accounts for every transfer to the last unit, in few rows, however small and however many', async () => {
    const order = await lab.order(lab.scan);
    const mint = async (minor: bigint): Promise<void> => {
      const data = TOKEN.encodeFunctionData('mint', [order.address, minor]);
      await lab.chain.funded.sendTransaction({ to: lab.chain.usdcAddress, data, gasLimit: 100_000n });
    };
    const figure = async () => {
      const { deposits, unlisted } = await lab.scan.provider.status(order);
      const listed = deposits.filter(({ amount }) => amount === '0.5').length;
      return [listed, unlisted, deposits.at(-1)?.amount];
    };
    await mint(0n);
    for (let n = 0; n < 110; n += 1) await mint(500_000n);
    await mint(1n);
    await mint(1_000_000n);
    await lab.chain.mine(2);
    await counted(order, 101);
    await lab.caughtUp();
    expect(await figure()).toEqual([100, { count: 11, amount: '5.000001' }, '1']);
    // The last three blocks hold the large transfer and two of the small ones.
    await lab.chain.reorg(5);
    await lab.chain.mine(2);
    await counted(order, 100);
    await lab.caughtUp();
    expect(await figure()).toEqual([100, { count: 9, amount: '4.5' }, '0.5']);
    // Sums that no reorganisation takes back any more are one row.
    for (let n = 0; n < 70; n += 1) {
      await lab.chain.mine(1);
      await lab.caughtUp();
    }
    await mint(3n);
    await lab.chain.mine(2);
    await lab.caughtUp();
    expect(await figure()).toEqual([100, { count: 10, amount: '4.500003' }, '0.5']);
    const rows = await lab.db.database.query('select from exchange.sandbox_dust where order_id = $1', [
      order.orderId,
    ]);
    expect(rows).toHaveLength(2);
    await lab.db.database.query(`update exchange.sandbox_scan set places = '[]'`);
    await lab.caughtUp();
    expect(await figure()).toEqual([100, { count: 10, amount: '4.500003' }, '0.5']);
  });

  it('counts an amount that no currency has', async () => {
    const order = await lab.order(lab.scan);
    const data = TOKEN.encodeFunctionData('mint', [order.address, 2n ** 255n]);
    await lab.chain.funded.sendTransaction({ to: lab.chain.usdcAddress, data, gasLimit: 100_000n });
    await lab.chain.mine(2);
    await counted(order);
    expect(await amounts(order)).toEqual([`${2n ** 255n}`.replace(/(\d{6})$/, '.$1')]);
  });

  it('waits for a node that is unavailable or on another chain, and says so', async () => {
    const order = await lab.order(lab.scan);
    lab.node.tamper(({ method }) => (method === 'eth_chainId' ? { result: '0x1' } : undefined));
    await lab.chain.transfer(order.address, '15');
    await lab.chain.mine(2);
    const { completeUntil } = await lab.scan.provider.status(order);
    const now = new Date().toISOString();
    expect((await lab.scan.provider.status(order)).deposits).toEqual([]);
    expect(completeUntil! < now).toBe(true);
    lab.node.goDown();
    await lab.db.database.query(`update exchange.sandbox_scan set scanned_at = now() - interval '61 s'`);
    await expect(lab.scan.provider.ping()).rejects.toThrow(/not scanned for deposits for 6\d s/);
    await expect(lab.order(lab.scan)).rejects.toThrow(/not scanned/);
    lab.node.comeBack();
    await counted(order);
    await lab.until(lab.scan, order, (status) => status.completeUntil! >= now);
    await lab.scan.provider.ping();
  });
});
