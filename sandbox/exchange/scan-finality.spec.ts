import { setTimeout } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ScanLab, type LabOrder } from '../../test/support/scan-lab.js';
import type { Tampering } from '../../test/support/test-node.js';

/** anvil calls a block safe that is so many blocks old. */
const SAFE = 32;

type RawBlock = Readonly<Record<'number' | 'hash' | 'timestamp', string>>;

const safeBlock =
  (change: (block: RawBlock) => RawBlock | null): Tampering =>
  ({ method, params }, { result }) =>
    method === 'eth_getBlockByNumber' && params[0] === 'safe'
      ? { result: change(result as RawBlock) }
      : undefined;

describe('a scan of a chain with a safe head', () => {
  let lab: ScanLab;

  beforeAll(async () => {
    lab = await ScanLab.open();
    await lab.chain.mine(SAFE);
    await lab.restart({ PAYOUT_FINALITY: 'safe' });
  });
  afterEach(() => lab.node.comeBack());
  afterAll(() => lab.close());

  const amounts = async (order: LabOrder): Promise<readonly string[]> =>
    (await lab.scan.provider.status(order)).deposits.map(({ amount }) => amount);
  const counted = (order: LabOrder, count = 1) =>
    lab.until(lab.scan, order, ({ deposits }) => deposits.length === count);
  const blockAt = async (tag: string): Promise<RawBlock> =>
    (await lab.chain.rpc('eth_getBlockByNumber', [tag, false])) as RawBlock;

  it('counts a deposit when its block is safe, and not one block earlier', async () => {
    const order = await lab.order(lab.scan);
    await lab.chain.transfer(order.address, '31');
    await lab.chain.mine(SAFE - 1);
    await lab.caughtUp();
    expect(await amounts(order)).toEqual([]);
    expect((await lab.scan.provider.status(order)).isDepositUnderWay).toBe(true);
    await lab.chain.mine(1);
    await counted(order);
  });

  it('counts nothing while the safe head is stuck or has gone back, and keeps what it counted', async () => {
    const [before, order] = [await lab.order(lab.scan), await lab.order(lab.scan)];
    await lab.chain.transfer(before.address, '32');
    await lab.chain.mine(SAFE);
    await counted(before);
    for (const head of [await blockAt('safe'), await blockAt('0x3')]) {
      lab.node.tamper(safeBlock(() => head));
      await lab.chain.transfer(order.address, '33');
      await lab.chain.mine(SAFE);
      await lab.caughtUp();
      expect([await amounts(before), await amounts(order)]).toEqual([['32'], []]);
      expect((await lab.scan.provider.status(order)).isDepositUnderWay).toBe(true);
    }
    lab.node.comeBack();
    await counted(order, 2);
  });

  it.each<[string, (block: RawBlock) => RawBlock | null]>([
    ['has another hash than the chain at its height', (block) => ({ ...block, hash: `0x${'4'.repeat(64)}` })],
    [
      'is above the newest one',
      ({ number, ...rest }) => ({ ...rest, number: `0x${(Number(number) + 500).toString(16)}` }),
    ],
    ['is unknown', () => null],
  ])('counts nothing where the node names a safe block that %s', async (_name, lie) => {
    const order = await lab.order(lab.scan);
    await lab.chain.transfer(order.address, '34');
    await lab.chain.mine(1);
    await lab.caughtUp();
    lab.node.tamper(safeBlock(lie));
    const since = Date.now();
    await lab.chain.mine(SAFE);
    await setTimeout(1000);
    const status = await lab.scan.provider.status(order);
    expect(status.deposits).toEqual([]);
    expect(Date.parse(status.completeUntil!)).toBeLessThan(since + 1000);
    lab.node.comeBack();
    await counted(order);
  });
});
