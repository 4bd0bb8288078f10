import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CHAIN_ID } from '../../../../../test/support/chain.js';
import { invoke } from '../../../../../test/support/operator.js';
import { ScanLab, type LabOrder } from '../../../../../test/support/scan-lab.js';
import { newId } from '../../../../kernel/ids.js';
import { Deposits } from '../../store/deposits.js';
import { ScanLost } from '../../store/scan-cursors.js';

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
  const underWay = (order: LabOrder, is = true) =>
    lab.until(lab.scan, order, ({ isDepositUnderWay }) => isDepositUnderWay === is);
  /** Again, as its sender would after it was dropped: the same bytes, and so the same hash. */
  const rawOf = (hash: string): Promise<unknown> => lab.chain.rpc('eth_getRawTransactionByHash', [hash]);
  /** A few at a time: a node with little time takes long for many. */
  const mineMany = async (blocks: number): Promise<void> => {
    for (let mined = 0; mined < blocks; mined += 100) await lab.chain.mine(100);
  };
  const minedAgain = async (raw: unknown): Promise<void> =>
    void (await lab.chain.rpc('eth_sendRawTransaction', [raw]));

  it('sees a transfer at once, and counts it when it has its confirmations', async () => {
    const order = await lab.order(lab.scan);
    const { hash, blockNumber } = await lab.chain.transfer(order.address, '100.000001');
    const seen = await underWay(order);
    expect(seen.deposits).toEqual([]);
    await lab.chain.mine(1);
    await lab.caughtUp(lab.scan);
    expect(await underWay(order)).toMatchObject({ deposits: [] });
    await lab.chain.mine(1);
    const { deposits, isDepositUnderWay } = await counted(order);
    expect(isDepositUnderWay).toBe(false);
    const block = await lab.chain.provider.getBlock(blockNumber);
    const at = new Date(Math.min(block!.timestamp * 1000, Date.parse(deposits[0]!.at))).toISOString();
    expect(deposits).toEqual([
      { id: `${CHAIN_ID}:${hash}:0`, amount: '100.000001', transactionHash: hash, at },
    ]);
  });

  it('counts two transfers of one transaction, each by its place in it', async () => {
    const order = await lab.order(lab.scan);
    const hash = await lab.chain.twoTransfers(order.address, '4');
    await lab.chain.mine(2);
    const { deposits } = await counted(order, 2);
    expect(deposits.map(({ id, amount }) => [id, amount])).toEqual([
      [`${CHAIN_ID}:${hash}:0`, '4'],
      [`${CHAIN_ID}:${hash}:1`, '4'],
    ]);
  });

  it('has the order looked at when something comes for it, and when it counts', async () => {
    const order = await lab.order(lab.scan);
    const due = async (): Promise<boolean> => {
      const [row] = await lab.db.database.query<{ due: boolean }>(
        'select next_check_at is not null as due from exchange.watches where order_id = $1',
        [order.orderId],
      );
      return row!.due;
    };
    const rest = `update exchange.watches set next_check_at = null where order_id = $1`;
    await lab.db.database.query(
      `insert into exchange.watches (order_id, key_id, pair_id, provider, created_at, status, next_check_at)
       values ($1, $2, 'USDCSOL', 'sandbox', now(), 'pending', null)`,
      [order.orderId, newId()],
    );
    await lab.chain.transfer(order.address, '1');
    await underWay(order);
    expect(await due()).toBe(true);
    await lab.db.database.query(rest, [order.orderId]);
    await lab.caughtUp(lab.scan);
    expect(await due()).toBe(false);
    await lab.chain.mine(2);
    await counted(order);
    expect(await due()).toBe(true);
  });

  it('never counts a transfer that a reorganisation removes first', async () => {
    const order = await lab.order(lab.scan);
    await lab.chain.transfer(order.address, '5');
    await underWay(order);
    await lab.chain.reorg(1);
    await underWay(order, false);
    await lab.chain.mine(5);
    await lab.caughtUp(lab.scan);
    expect(await amounts(order)).toEqual([]);
  });

  it('counts a transfer once that a reorganisation moves to another block', async () => {
    const order = await lab.order(lab.scan);
    const { hash } = await lab.chain.transfer(order.address, '6');
    const raw = await rawOf(hash);
    await underWay(order);
    await lab.chain.reorg(1);
    await underWay(order, false);
    await minedAgain(raw);
    await lab.chain.mine(2);
    expect((await counted(order)).deposits[0]).toMatchObject({ id: `${CHAIN_ID}:${hash}:0`, amount: '6' });
    await lab.chain.mine(3);
    await lab.caughtUp(lab.scan);
    expect(await amounts(order)).toEqual(['6']);
  });

  it('takes back what a deep reorganisation removes, and knows it again when it returns', async () => {
    const order = await lab.order(lab.scan);
    const { hash } = await lab.chain.transfer(order.address, '7');
    const raw = await rawOf(hash);
    await lab.chain.mine(4);
    const { deposits } = await counted(order);
    await lab.chain.reorg(5);
    await lab.chain.mine(4);
    await counted(order, 0);
    await minedAgain(raw);
    await lab.chain.mine(3);
    const again = await counted(order);
    expect(again.deposits[0]).toMatchObject({ id: deposits[0]!.id, amount: '7' });
  });

  it('finds what came while no process was there, however long ago', async () => {
    const orders = [await lab.order(lab.scan), await lab.order(lab.scan), await lab.order(lab.scan)];
    await lab.scan.stop();
    await lab.chain.transfer(orders[0]!.address, '11');
    await mineMany(600);
    await lab.chain.transfer(orders[1]!.address, '12');
    await mineMany(600);
    await lab.chain.transfer(orders[2]!.address, '13');
    await lab.chain.mine(2);
    await lab.restart(THREE);
    await Promise.all(orders.map((order) => counted(order)));
    expect(await Promise.all(orders.map(amounts))).toEqual([['11'], ['12'], ['13']]);
  });

  it('makes up for a gap from a node that tells few blocks at a time', async () => {
    const order = await lab.order(lab.scan);
    lab.node.tamper(({ method, params: [filter] }) => {
      const { fromBlock, toBlock } = (filter ?? {}) as { fromBlock?: string; toBlock?: string };
      if (method !== 'eth_getLogs' || fromBlock === undefined) return undefined;
      const blocks = Number(toBlock) - Number(fromBlock) + 1;
      return blocks > 7
        ? { error: { code: -32005, message: 'query returned more than 10000 results' } }
        : undefined;
    });
    await lab.chain.transfer(order.address, '14');
    await lab.chain.mine(100);
    await counted(order);
    lab.node.comeBack();
  });

  it('is done by several processes at once without harm', async () => {
    const others = await Promise.all([lab.start(THREE), lab.start(THREE)]);
    const orders = await Promise.all(others.flatMap((each) => [lab.order(each), lab.order(each)]));
    for (let round = 0; round < 5; round += 1) {
      for (const order of orders) await lab.chain.transfer(order.address, '2');
      // Whoever has the lease loses it in the middle of its look.
      await lab.db.database.query(`update exchange.scan_cursors set held_until = now() - interval '1 s'`);
    }
    await lab.chain.mine(2);
    for (const order of orders) await counted(order, 5);
    await Promise.all(others.map((each) => each.stop()));
    await lab.chain.mine(3);
    await lab.caughtUp(lab.scan);
    for (const order of orders) expect(await amounts(order)).toEqual(['2', '2', '2', '2', '2']);
  });

  it('reads again what an operator wants read again', async () => {
    const order = await lab.order(lab.scan);
    const { blockNumber } = await lab.chain.transfer(order.address, '16');
    await lab.chain.mine(2);
    const { deposits } = await counted(order);
    // As if a node had hidden it, on a chain that nothing of is known any more.
    await lab.db.database.query('delete from exchange.deposits where order_id = $1', [order.orderId]);
    await lab.db.database.query(`update exchange.scanned_blocks set block_hash = 'another'`);
    const env = { DATABASE_URL: lab.db.url, MASTER_KEY: '0'.repeat(64) };
    await expect(invoke('exchange', env, 'rescan', '99999999')).rejects.toThrow(/never scanned up to/);
    await expect(invoke('exchange', env, 'rescan', '0x10')).rejects.toThrow(/whole number/);
    await invoke('exchange', env, 'rescan', String(blockNumber - 1));
    expect((await counted(order)).deposits).toMatchObject([{ id: deposits[0]!.id, amount: '16' }]);
    await lab.caughtUp(lab.scan);
    expect(await amounts(order)).toEqual(['16']);
  });

  it('stores nothing that a process has read which stood still meanwhile', async () => {
    const order = await lab.order(lab.scan);
    await lab.scan.stop();
    const still = await lab.start(THREE, { isScanning: false });
    const cursor = (await still.cursors.hold(CHAIN_ID, 15_000))!;
    await lab.startScan(THREE);
    expect(await lab.scan.cursors.hold(CHAIN_ID, 1)).toBeNull();
    await lab.db.database.query(`update exchange.scan_cursors set held_until = now() - interval '1 s'`);
    await lab.chain.transfer(order.address, '3');
    await lab.chain.mine(2);
    await counted(order);
    const { number } = cursor.scanned;
    const made = {
      ...{
        orderId: order.orderId,
        transactionHash: `0x${'ab'.repeat(32)}`,
        place: 0,
        amountMinor: 5_000_000n,
      },
      ...{ blockNumber: number + 1, blockHash: `0x${'cd'.repeat(32)}`, blockAt: new Date() },
    };
    const place = { number: number + 1, hash: made.blockHash };
    const step = {
      ...{ scanned: place, seen: place, completeUntil: null, deposits: [made], underWay: [] },
      ...{ seenAgainAfter: number + 1, ignored: [] },
    };
    await expect(new Deposits(lab.db.database).store(cursor, step)).rejects.toBeInstanceOf(ScanLost);
    expect(await amounts(order)).toEqual(['3']);
  });

  it('waits for a node that is away, and says so', async () => {
    const order = await lab.order(lab.scan);
    lab.node.goDown();
    await lab.chain.transfer(order.address, '15');
    await lab.chain.mine(2);
    const { completeUntil } = await lab.scan.provider.status(order);
    const now = new Date().toISOString();
    expect((await lab.scan.provider.status(order)).deposits).toEqual([]);
    expect(completeUntil! < now).toBe(true);
    await lab.db.database.query(`update exchange.scan_cursors set scanned_at = now() - interval '61 s'`);
    await expect(lab.scan.provider.ping()).rejects.toThrow(/not scanned for deposits for 6\d s/);
    await expect(lab.order(lab.scan)).rejects.toThrow(/not scanned/);
    lab.node.comeBack();
    await counted(order);
    await lab.until(lab.scan, order, (status) => status.completeUntil! >= now);
    await lab.scan.provider.ping();
  });
});
