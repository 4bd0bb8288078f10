import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Interface } from 'ethers';
import { ScanLab, type LabOrder } from '../../../../../test/support/scan-lab.js';
import { TestNode, type RpcCall, type Tampering } from '../../../../../test/support/test-node.js';
import { scans } from '../../metrics.js';
import { eventually } from '../../../../../test/support/eventually.js';

const TOKEN = new Interface(['function mint(address to, uint256 amount)']);

type Log = Record<string, unknown>;

/** How often a look has come to nothing in this process. */
async function failures(): Promise<number> {
  const { values } = await scans.get();
  return values
    .filter(({ labels }) => labels.outcome === 'unavailable')
    .reduce((sum, { value }) => sum + value, 0);
}

describe('a scan that is lied to', () => {
  let lab: ScanLab;

  beforeAll(async () => {
    lab = await ScanLab.open();
    await lab.restart({ PAYOUT_FINALITY: '2' });
  });
  afterEach(() => lab.node.comeBack());
  afterAll(() => lab.close());

  const deposits = async (order: LabOrder): Promise<readonly string[]> =>
    (await lab.scan.provider.status(order)).deposits.map(({ amount }) => amount);
  const until = (order: LabOrder, count: number) =>
    lab.until(lab.scan, order, (status) => status.deposits.length === count);
  /** Puts something in place of the logs of ranges, and of single blocks too when `always`. */
  const logs =
    (change: (logs: Log[]) => unknown, always = true): Tampering =>
    ({ method, params: [filter] }, { result }) =>
      method === 'eth_getLogs' && (always || 'fromBlock' in (filter as object))
        ? { result: change(result as Log[]) }
        : undefined;
  const each = (change: object, always = true): Tampering =>
    logs((all) => all.map((log) => ({ ...log, ...change })), always);
  const block =
    (which: (call: RpcCall) => boolean, change: (block: Log) => unknown): Tampering =>
    (call, { result }) =>
      call.method === 'eth_getBlockByNumber' && which(call) ? { result: change(result as Log) } : undefined;
  const isLatest = ({ params }: RpcCall): boolean => params[0] === 'latest';

  const LIES: readonly (readonly [string, Tampering])[] = [
    ['logs of another contract', each({ address: `0x${'11'.repeat(20)}` })],
    [
      'logs of another event',
      each({ topics: [`0x${'22'.repeat(32)}`, `0x${'0'.repeat(64)}`, `0x${'0'.repeat(64)}`] }),
    ],
    ['logs without a block', each({ blockHash: null, blockNumber: null })],
    ['logs without a transaction', each({ transactionHash: undefined })],
    ['logs that were removed', each({ removed: true })],
    ['logs of another block than they say', each({ blockHash: `0x${'33'.repeat(32)}` })],
    ['logs of blocks that nobody asked for', each({ blockNumber: '0x0' })],
    ['every log twice', logs((all) => [...all, ...all])],
    ['another amount', each({ data: `0x${'0'.repeat(56)}3b9aca00` }, false)],
    ['all there can be', each({ data: `0x${'f'.repeat(64)}` }, false)],
    ['no list', logs(() => ({ nonsense: true }))],
    ['a list of nothing', logs((all) => all.map(() => null))],
    ['another chain', ({ method }) => (method === 'eth_chainId' ? { result: '0x1' } : undefined)],
    ['that it is syncing', ({ method }) => (method === 'eth_syncing' ? { result: {} } : undefined)],
    ['a newest block without a hash', block(isLatest, (told) => ({ ...told, hash: null }))],
    [
      'another hash for every block but the newest',
      block(
        (call) => !isLatest(call),
        (told) => ({ ...told, hash: `0x${'44'.repeat(32)}` }),
      ),
    ],
    [
      'no block but the newest',
      block(
        (call) => !isLatest(call),
        () => null,
      ),
    ],
  ];

  it.each(LIES)('concludes nothing from a node that tells %s', async (_, lie) => {
    const order = await lab.order(lab.scan);
    const before = await failures();
    lab.node.tamper(lie);
    await lab.chain.transfer(order.address, '100');
    await lab.chain.mine(1);
    await eventually(async () => (await failures()) >= before + 2);
    expect(await deposits(order)).toEqual([]);
    lab.node.comeBack();
    await until(order, 1);
    expect(await deposits(order)).toEqual(['100']);
  });

  it('is not deceived by a transfer that was never made', async () => {
    const order = await lab.order(lab.scan);
    const real = await lab.order(lab.scan);
    const to = `0x${order.address.slice(2).toLowerCase().padStart(64, '0')}`;
    const before = await failures();
    lab.node.tamper(
      logs(
        (all) =>
          all.flatMap((log) => [
            log,
            { ...log, logIndex: '0x7', topics: [...(log['topics'] as string[]).slice(0, 2), to] },
          ]),
        false,
      ),
    );
    await lab.chain.transfer(real.address, '9');
    await lab.chain.mine(1);
    await eventually(async () => (await failures()) >= before + 2);
    lab.node.comeBack();
    await until(real, 1);
    expect(await deposits(order)).toEqual([]);
    expect((await lab.scan.provider.status(order)).isDepositUnderWay).toBe(false);
  });

  it('does not let go of what a node has told and hides afterwards', async () => {
    const order = await lab.order(lab.scan);
    await lab.chain.transfer(order.address, '8');
    await lab.until(lab.scan, order, ({ isDepositUnderWay }) => isDepositUnderWay);
    const before = await failures();
    lab.node.tamper(logs(() => [], false));
    await lab.chain.mine(1);
    await eventually(async () => (await failures()) >= before + 2);
    expect((await lab.scan.provider.status(order)).isDepositUnderWay).toBe(true);
    lab.node.comeBack();
    await until(order, 1);
  });

  it('finds again what it had found after a node whose chain went back', async () => {
    const order = await lab.order(lab.scan);
    await lab.chain.transfer(order.address, '21');
    await lab.chain.mine(3);
    await until(order, 1);
    const before = await lab.scan.provider.status(order);
    const old = await lab.chain.rpc('eth_getBlockByNumber', ['0x2', false]);
    lab.node.tamper(({ method, params }) =>
      method === 'eth_getBlockByNumber' && params[0] === 'latest' ? { result: old } : undefined,
    );
    await eventually(async () => Number((await lab.scan.cursors.state(31337))!.block_number) <= 2);
    lab.node.comeBack();
    await lab.caughtUp(lab.scan);
    expect((await lab.scan.provider.status(order)).deposits).toEqual(before.deposits);
  });

  it('goes on with a dev chain that was set back to an older state', async () => {
    const order = await lab.order(lab.scan);
    const snapshot = await lab.chain.rpc('evm_snapshot');
    const nonce = await lab.chain.funded.getNonce();
    await lab.chain.transfer(order.address, '22');
    await lab.chain.mine(5);
    await until(order, 1);
    await lab.chain.rpc('evm_revert', [snapshot]);
    lab.chain.funded.reset();
    expect(await lab.chain.funded.getNonce()).toBe(nonce);
    const { hash } = await lab.chain.transfer(order.address, '23');
    await lab.chain.mine(1);
    const status = await lab.until(lab.scan, order, (now) =>
      now.deposits.some(({ amount }) => amount === '23'),
    );
    expect(status.deposits.at(-1)).toMatchObject({ transactionHash: hash });
    await lab.chain.mine(6);
    await lab.caughtUp(lab.scan);
    // What the other history had paid is on no chain any more.
    expect(await deposits(order)).toEqual(['23']);
  });

  it('needs as many nodes as are asked for to agree', async () => {
    const second = await TestNode.start(lab.chain.rpcUrl);
    try {
      second.tamper(logs(() => []));
      await lab.restart({
        PAYOUT_FINALITY: '2',
        CHAIN_RPC_URL: `${lab.node.url},${second.url}`,
        CHAIN_QUORUM: '2',
      });
      const order = await lab.order(lab.scan);
      const before = await failures();
      await lab.chain.transfer(order.address, '24');
      await lab.chain.mine(1);
      await eventually(async () => (await failures()) >= before + 2);
      expect(await deposits(order)).toEqual([]);
      second.comeBack();
      await until(order, 1);
    } finally {
      await second.stop();
      await lab.restart({ PAYOUT_FINALITY: '2' });
    }
  });

  it('tells no time that the chain does not tell, where blocks tell the time', async () => {
    await lab.restart({
      PAYOUT_FINALITY: '2',
      CHAIN_MAX_HEAD_AGE_SECONDS: '86400',
      PAYOUT_EXPIRY_MARGIN_SECONDS: '0',
    });
    await lab.db.database.query('update exchange.scan_cursors set complete_until = null');
    const order = await lab.order(lab.scan);
    await lab.chain.mine(1);
    await lab.caughtUp(lab.scan);
    const confirmed = (await lab.chain.provider.getBlock((await lab.chain.provider.getBlockNumber()) - 1))!;
    const { completeUntil } = await lab.until(lab.scan, order, (status) => status.completeUntil !== null);
    expect(Date.parse(completeUntil!)).toBeLessThanOrEqual(confirmed.timestamp * 1000);
  });

  it('ignores what is too small or more than there is, takes a hundred small ones, and every large one', async () => {
    const order = await lab.order(lab.scan);
    const mint = async (minor: bigint): Promise<void> => {
      const data = TOKEN.encodeFunctionData('mint', [order.address, minor]);
      await lab.chain.funded.sendTransaction({ to: lab.chain.usdcAddress, data, gasLimit: 100_000n });
    };
    await mint(0n);
    await mint(9_999n);
    await mint(10n ** 22n);
    for (let n = 0; n < 110; n += 1) await mint(10_000n);
    await mint(1_000_000n);
    await lab.chain.mine(2);
    await until(order, 101);
    await lab.caughtUp(lab.scan);
    const found = await deposits(order);
    expect(found.filter((amount) => amount === '0.01')).toHaveLength(100);
    expect(found.at(-1)).toBe('1');
    const [row] = await lab.db.database.query(
      'select ignored_transfers, ignored_minor from exchange.sandbox_orders where order_id = $1',
      [order.orderId],
    );
    expect(row).toEqual({ ignored_transfers: '12', ignored_minor: String(10n ** 22n + 9_999n + 100_000n) });
  });
});
