import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { invoke } from '../../support/programs/cli.js';
import { PayoutHarness, type TestUser } from '../../support/payouts/payout-harness.js';
import { TestNode, type RpcCall } from '../../support/payouts/test-node.js';

const LOGS = 'eth_getLogs';

interface Row {
  readonly transaction_hash: string;
  readonly amount: string;
  readonly user_id: string;
}

describe('npm run payout -- unreported', () => {
  let harness: PayoutHarness;
  let user: TestUser;
  let other: TestUser;
  let node: TestNode;
  let unreported: string;

  beforeAll(async () => {
    harness = await PayoutHarness.open();
    await harness.start();
    [user, other] = [await harness.activeUser(), await harness.activeUser()];
    node = await TestNode.start(harness.chain.rpcUrl);
    const reported = (await harness.chain.transfer(user.wallet, '1')).hash;
    await harness.report({ user, hash: reported, amount: '2' });
    unreported = (await harness.chain.transfer(user.wallet, '3.5')).hash;
  });
  afterEach(() => node.comeBack());
  afterAll(async () => {
    await harness.close();
    await node.stop();
  });

  const run = async (...args: string[]): Promise<readonly Row[]> => {
    const { printed } = await program(...args, '--json');
    const lines = printed.trimEnd().split('\n');
    return lines.slice(0, -1).map((line) => JSON.parse(line) as Row);
  };
  const hashes = async (): Promise<readonly string[]> =>
    (await run('--from-block', '0')).map(({ transaction_hash }) => transaction_hash);
  /** Once the read models have every report. */
  const onlyUnreported = async (): Promise<void> => {
    await eventually(async () => (await hashes()).join() === unreported);
  };
  const program = (...args: string[]) =>
    invoke(
      'payout',
      { DATABASE_URL: harness.db.url, USDC_ADDRESS: harness.chain.usdcAddress },
      ...['unreported', '--rpc', node.url, ...args],
    );

  it('lists transfers to users that no payout names, also where its amount differs', async () => {
    await onlyUnreported();
    expect(await run('--from-block', '0')).toEqual([
      expect.objectContaining({ transaction_hash: unreported, amount: '3.5', user_id: user.id }),
    ]);
    const { printed } = await program('--from-block', '0');
    expect(printed).toContain(`${unreported}  block `);
    expect(printed).toMatch(/1 transfers to \d+ wallets in the blocks 0 to \d+ that no payout names/);
  });

  it('lists a transfer that a payout to another user names', async () => {
    const { hash } = await harness.chain.transfer(user.wallet, '4');
    await harness.report({ user: other, hash, amount: '4' });
    expect(await hashes()).toContain(hash);
    await harness.report({ user, hash, amount: '4' });
    await onlyUnreported();
  });

  it('lists neither transfers to strangers nor those of another block', async () => {
    const stranger = `0x${'5'.repeat(40)}`;
    const before = Number(await harness.chain.rpc('eth_blockNumber', []));
    await harness.chain.transfer(stranger, '1');
    expect(await run('--from-block', String(before + 1))).toEqual([]);
    expect(await run('--from-block', '0', '--to-block', '1')).toEqual([]);
  });

  it('reads fewer blocks at a time where the node refuses many', async () => {
    const length = ({ params }: RpcCall): number => {
      const [{ fromBlock, toBlock }] = params as [{ fromBlock: string; toBlock: string }];
      return Number(toBlock) - Number(fromBlock) + 1;
    };
    node.tamper((call) =>
      call.method === LOGS && length(call) > 1 ? { error: { code: -32005, message: 'too many' } } : undefined,
    );
    expect(await hashes()).toEqual([unreported]);
  });

  it('ends with an error where the node lists nothing of a block, or something else', async () => {
    node.tamper(({ method }) => (method === LOGS ? { error: { code: -32000, message: 'no' } } : undefined));
    await expect(program('--from-block', '0')).rejects.toThrow('the node lists no transfers of block 0');
    node.tamper(({ method }) => (method === LOGS ? { result: [{ hello: 1 }] } : undefined));
    await expect(program('--from-block', '0')).rejects.toThrow('block 0: no list of logs');
    await expect(program('--from-block', 'first')).rejects.toThrow(
      '--from-block must be the number of a block',
    );
  });
});
