import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { EVENT_STORE, type EventStore, type NewEvent } from '../../../src/platform/event-store/port.js';
import { newId } from '../../../src/kernel/ids.js';
import { payoutReceived } from '../../support/payouts/evidence.js';
import { invoke, type Run } from '../../support/programs/cli.js';
import { PayoutHarness } from '../../support/payouts/payout-harness.js';
import { TestNode } from '../../support/payouts/test-node.js';

const RECEIPT = 'eth_getTransactionReceipt';

// A separate service, because blocks are replaced and all payouts of the log are checked.
const harness = PayoutHarness.forSuite();
/** The node of the programs; the service uses another one. */
let node: TestNode;

beforeAll(async () => {
  node = await TestNode.start(harness.chain.rpcUrl);
});
afterEach(() => node.comeBack());
afterAll(() => node.stop());

function run(program: string, ...args: readonly string[]): Promise<Run> {
  const env = { DATABASE_URL: harness.db.url, USDC_ADDRESS: harness.chain.usdcAddress };
  return invoke(program, env, ...args, '--rpc', node.url);
}

describe('npm run audit -- recheck', () => {
  const recheck = (...args: string[]): Promise<Run> => run('audit', 'recheck', ...args);
  const received = async (): Promise<{ id: string; hash: string }> => {
    const hash = await harness.pay();
    const id = await harness.report({ hash });
    expect(await harness.settled(id)).toBe('received');
    return { id, hash };
  };
  const named = (run: Run, label: string): string[] =>
    [...run.printed.matchAll(new RegExp(`^${label} +payout ([0-9a-f-]{36})`, 'gm'))].map(([, id]) => id!);

  it('names exactly the payouts that a reorganisation undid or moved', async () => {
    const unchanged = [(await received()).id, (await received()).id];
    const sound = await recheck();
    expect(sound.printed).toContain(`2 payouts checked`);
    expect(sound.printed).toContain(`2 confirmed, 0 of them in another block; 0 undone`);
    expect(sound.exitCode).toBeNull();
    const moved = await received();
    const raw = (await harness.chain.rpc('eth_getRawTransactionByHash', [moved.hash])) as string;
    const undone = [(await received()).id, (await received()).id];
    await harness.chain.rpc('anvil_reorg', [3, [[raw, 2]]]);
    harness.chain.funded.reset();
    const run = await recheck();
    expect(named(run, 'UNDONE').sort()).toEqual(undone.sort());
    expect(named(run, 'MOVED')).toEqual([moved.id]);
    expect(run.printed).not.toMatch(new RegExp(unchanged.join('|')));
    expect(run.printed.match(/block not canonical: block \d+ of the chain is 0x/g)).toHaveLength(2);
    expect(run.printed).toContain('3 confirmed, 1 of them in another block; 2 undone');
    expect(run.exitCode).toBe(2);
    const lines = (await recheck('--json')).printed.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line) as object).at(-1)).toMatchObject({
      undone: 2,
      stopped: null,
    });
  });

  it('reports a node that is unavailable, behind or on another chain, and no payout as undone', async () => {
    const { id, hash } = await received();
    const before = (await harness.history(id))[0]!.position;
    const ask = (): Promise<Run> => recheck('--from', before);
    node.goDown();
    const unavailable = await ask();
    expect(unavailable.printed).toBe(
      `0 payouts checked, up to position ${before}: 0 confirmed, 0 of them in another block; 0 undone\n` +
        `STOPPED: the node is unavailable: no connection. That says nothing of any payout; continue with --from ${before}\n`,
    );
    node.comeBack();
    node.tamper(({ method }) => (method === 'eth_chainId' ? { result: '0x1' } : undefined));
    const lied = await ask();
    expect(lied.printed).toContain('STOPPED: the node is on chain 1, not 31337. That says nothing');
    node.comeBack();
    node.tamper(({ method, params }) =>
      method === RECEIPT && params[0] === hash ? { error: { code: -1, message: 'no' } } : undefined,
    );
    const mute = await ask();
    expect(mute.printed).toContain('the node gave no usable response');
    const height = Number(await harness.chain.rpc('eth_blockNumber'));
    const earlier = await harness.chain.rpc('eth_getBlockByNumber', [
      `0x${(height - 1).toString(16)}`,
      false,
    ]);
    node.tamper(({ method, params }) => {
      if (params[0] === hash) return { result: null };
      return method === 'eth_getBlockByNumber' ? { result: earlier } : undefined;
    });
    const behind = await ask();
    expect(behind.printed).toContain(
      `the newest final block of the node is ${height - 1}, before its block ${height}`,
    );
    for (const run of [mute, behind]) expect(named(run, 'UNKNOWN')).toEqual([id]);
    expect([unavailable, lied, mute, behind].map(({ exitCode }) => exitCode)).toEqual([1, 1, 1, 1]);
    expect([unavailable, lied, mute, behind].flatMap((run) => named(run, 'UNDONE'))).toEqual([]);
    node.comeBack();
    expect((await ask()).exitCode).toBeNull();
  });

  it('reports a payout as undone if its log on the chain has another amount', async () => {
    const [other] = [await received(), await received()];
    node.tamper(({ method, params }, { result }) =>
      method === RECEIPT && params[0] === other.hash
        ? { result: JSON.parse(JSON.stringify(result).replaceAll('f4240"', 'f4241"')) as unknown }
        : undefined,
    );
    const run = await recheck('--from', (await harness.history(other.id))[0]!.position);
    expect(run.printed).toContain('log differs: the value is 1000001, not 1000000');
    expect([named(run, 'UNDONE'), run.exitCode]).toEqual([[other.id], 2]);
  });

  it('continues at the position where an earlier run stopped', async () => {
    const first = await received();
    const before = (await harness.history(first.id))[0]!.position;
    // More than a page of events is between the two.
    const events = Array.from({ length: 600 }, (): NewEvent => {
      const data = { payout_id: newId(), user_id: harness.user.id };
      return { id: newId(), type: 'payout.intended.v1', metadata: {}, data };
    });
    const store = harness.service.app.get<EventStore>(EVENT_STORE);
    const elsewhere = [payoutReceived(harness.user.merchantId)];
    const appends = [
      { stream: `payout-${elsewhere[0]!.id}`, events: elsewhere, expected: 'no_stream' as const },
      { stream: `payout_intent-${newId()}`, events, expected: 'no_stream' as const },
    ];
    const { position: end } = (await store.commit({ appends })) as { position: string };
    const second = await received();
    let calls = 0;
    node.tamper(({ method }) =>
      method === 'eth_chainId' && (calls += 1) > 1 ? { result: '0x1' } : undefined,
    );
    const stopped = await recheck('--from', before);
    expect(stopped.printed).toContain('1 payouts checked');
    expect(stopped.printed).toContain('1 are on other chains and were not checked');
    const [, from] = /continue with --from (\d+)/.exec(stopped.printed)!;
    expect(BigInt(from!)).toBeLessThan(BigInt(end));
    node.comeBack();
    node.tamper(({ method }) => (method === RECEIPT ? { result: null } : undefined));
    const rest = await recheck('--from', from!);
    expect(rest.printed).toContain('1 payouts checked');
    expect(rest.printed).not.toContain(first.id);
    expect(rest.printed).toContain(second.id);
  });

  it('refuses an invalid --from, and an --rpc that is no http URL', async () => {
    const env = { DATABASE_URL: harness.db.url, USDC_ADDRESS: harness.chain.usdcAddress };
    await expect(recheck('--from', 'x')).rejects.toThrow('--from');
    await expect(invoke('audit', env, 'recheck', '--rpc', 'ftp://127.0.0.1')).rejects.toThrow('--rpc');
  });
});
