import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../../../test/support/eventually.js';
import { ScanLab, type LabOrder } from '../../../../../test/support/scan-lab.js';
import { TestNode, type Tampering } from '../../../../../test/support/test-node.js';
import { scans } from '../../metrics.js';

/** anvil calls a block safe that is so many blocks old. */
const SAFE = 32;
const SETTINGS = { PAYOUT_FINALITY: 'safe' };

type RawBlock = Readonly<Record<'number' | 'hash' | 'timestamp', string>>;

const safeBlock =
  (change: (block: RawBlock) => RawBlock | null): Tampering =>
  ({ method, params }, { result }) =>
    method === 'eth_getBlockByNumber' && params[0] === 'safe'
      ? { result: change(result as RawBlock) }
      : undefined;

async function scansWith(outcome: string): Promise<number> {
  const { values } = await scans.get();
  return values.find(({ labels }) => labels.outcome === outcome)?.value ?? 0;
}

describe('a scan of a chain with a safe head', () => {
  let lab: ScanLab;

  beforeAll(async () => {
    lab = await ScanLab.open();
    await lab.chain.mine(SAFE);
    await lab.restart(SETTINGS);
  });
  afterEach(() => lab.node.comeBack());
  afterAll(() => lab.close());

  const amounts = async (order: LabOrder): Promise<readonly string[]> =>
    (await lab.scan.provider.status(order)).deposits.map(({ amount }) => amount);
  const counted = (order: LabOrder) => lab.until(lab.scan, order, ({ deposits }) => deposits.length === 1);
  const moreScans = async (outcome: string): Promise<void> => {
    const before = await scansWith(outcome);
    await eventually(async () => (await scansWith(outcome)) >= before + 3);
  };
  const safe = async (): Promise<RawBlock> =>
    (await lab.chain.rpc('eth_getBlockByNumber', ['safe', false])) as RawBlock;

  it('counts a deposit when its block is safe, and not one block earlier', async () => {
    const order = await lab.order(lab.scan);
    await lab.chain.transfer(order.address, '31');
    await lab.chain.mine(SAFE - 1);
    await lab.caughtUp(lab.scan);
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
    for (const head of [
      await safe(),
      (await lab.chain.rpc('eth_getBlockByNumber', ['0x3', false])) as RawBlock,
    ]) {
      lab.node.tamper(safeBlock(() => head));
      await lab.chain.transfer(order.address, '33');
      await lab.chain.mine(SAFE);
      await moreScans('stored');
      expect([await amounts(before), await amounts(order)]).toEqual([['32'], []]);
    }
    lab.node.comeBack();
    await lab.until(lab.scan, order, ({ deposits }) => deposits.length === 2);
  });

  it.each<[string, (newest: RawBlock) => Tampering]>([
    [
      'has another hash than the chain at its height',
      ({ number, hash }) =>
        safeBlock(() => ({ number: `0x${(Number(number) - 1).toString(16)}`, hash, timestamp: '0x1' })),
    ],
    [
      'is above the newest one',
      ({ number, ...rest }) =>
        safeBlock(() => ({ ...rest, number: `0x${(Number(number) + 50).toString(16)}` })),
    ],
    ['is unknown', () => safeBlock(() => null)],
  ])('counts nothing where the node names a safe block that %s', async (_name, lie) => {
    const order = await lab.order(lab.scan);
    await lab.chain.transfer(order.address, '34');
    await lab.chain.mine(2);
    const newest = (await lab.chain.rpc('eth_getBlockByNumber', ['latest', false])) as RawBlock;
    lab.node.tamper(lie(newest));
    await moreScans('unavailable');
    expect(await amounts(order)).toEqual([]);
    lab.node.comeBack();
    await lab.chain.mine(SAFE);
    await counted(order);
  });

  it('counts a deposit of two nodes when its block is safe for each of them', async () => {
    const second = await TestNode.start(lab.chain.rpcUrl);
    try {
      const behind = await safe();
      second.tamper(safeBlock(() => behind));
      await lab.restart({ ...SETTINGS, CHAIN_RPC_URL: `${lab.node.url},${second.url}`, CHAIN_QUORUM: '2' });
      const order = await lab.order(lab.scan);
      await lab.chain.transfer(order.address, '35');
      await lab.chain.mine(SAFE);
      await moreScans('stored');
      expect(await amounts(order)).toEqual([]);
      second.comeBack();
      await counted(order);
    } finally {
      await second.stop();
    }
  });
});
