import { setTimeout as sleep } from 'node:timers/promises';
import { rpc } from '../../../sandbox/chain.js';
import { eventually } from '../../../bench/support/wait.js';
import type { SignedClient } from '../../support/http/signed-client.js';
import { createPayee, randomHash } from '../../support/payouts/payout-calls.js';
import { TestNode } from '../../support/payouts/test-node.js';
import { checkBooks } from '../support/books.js';
import { LIES, type Receipt } from '../support/lies.js';
import { outcomesOf, reportPayout, type Payee } from '../support/payouts.js';
import { Shared } from '../support/shared.js';
import { between, oneOf, seconds, type Suite, type SuiteOptions } from '../support/suite.js';
import type { Treasury } from '../support/treasury.js';

const WINDOW_SECONDS = 6;
const MARGIN_SECONDS = 1;
/** The duration of one lie. The lies cover the end of the window. */
const LIE_MS = 1500;
const LYING_MS = 12_000;
const EACH = 6;

interface RoundContext {
  readonly shared: Shared;
  readonly node: TestNode;
  readonly rpcUrl: string;
  readonly client: SignedClient;
  readonly payee: Payee;
  readonly treasury: Treasury;
  readonly quorum: boolean;
}

/**
 * A node returns one lie after another while payouts end, then the truth. The suite runs with this node
 * alone. It also runs with an honest one and a quorum of two, where the node may repeat a lie. Every outcome
 * is compared with the real chain.
 */
export const lyingNode: Suite = async (options) => {
  await Promise.all([false, true].map((quorum) => Shared.run((shared) => play(shared, quorum, options))));
};

async function play(shared: Shared, quorum: boolean, options: SuiteOptions): Promise<void> {
  const { rpcUrl } = await shared.chain();
  await rpc(rpcUrl, 'evm_setIntervalMining', [1]);
  const node = await shared.ends.start(TestNode.start(rpcUrl));
  const { client } = await shared.service('service', {
    CHAIN_RPC_URL: quorum ? `${node.url},${rpcUrl}` : node.url,
    CHAIN_QUORUM: quorum ? '2' : '1',
    CHAIN_MAX_HEAD_AGE_SECONDS: '15',
    PAYOUT_EXPIRY_MARGIN_SECONDS: String(MARGIN_SECONDS),
    PAYOUT_VERIFICATION_WINDOW_SECONDS: String(WINDOW_SECONDS),
    PAYOUT_CHECK_INTERVAL_MS: '100',
  });
  const payee = await createPayee(client);
  const context = { shared, node, rpcUrl, client, payee, treasury: await shared.treasury(), quorum };
  for (let round = 1; round <= options.count; round += 1) await playRound(round, context, options);
  options.say(await checkBooks(shared, options.verdict));
}

async function playRound(round: number, context: RoundContext, { say, verdict }: SuiteOptions) {
  const { shared, node, client, payee, treasury, quorum } = context;
  const name = `${quorum ? 'quorum' : 'one node'}, round ${round}`;
  const ghosts = await dropped(context);
  const lies: string[] = [];
  const lying = lie(context, ghosts, lies);
  const hashes = new Map<string, string>();
  const never = async (minor: number, hash: string): Promise<void> => {
    hashes.set(await reportPayout(client, payee, minor, hash), hash);
  };
  const send = async (minor: number, laterMs: number): Promise<void> => {
    const { hash, broadcast } = await treasury.prepare(payee.wallet, minor);
    await never(minor, hash);
    await sleep(laterMs);
    await broadcast();
  };
  await Promise.all([
    ...numbers(EACH).map((n) => send(1000 + n, between(0, 1000))),
    ...numbers(EACH).map((n) => send(2000 + n, WINDOW_SECONDS * 1000 - between(0, 2500))),
    ...numbers(EACH).map((n) => never(3000 + n, randomHash())),
    ...ghosts.map(({ transactionHash }, n) => never(GHOST_MINOR + n, transactionHash)),
  ]);
  await lying;
  node.comeBack();
  const ids = [...hashes.keys()];
  const began = performance.now();
  await eventually(
    `${name}: every payout has its outcome once the node is honest`,
    async () => (await outcomesOf(shared.pool, ids)).size === ids.length,
    120_000,
  );
  const wrong = await wrongOutcomes(context, hashes);
  verdict.none(`${name}: a wrong final fact`, wrong);
  say(
    `${name}  ${lies.join(', ')}: ${ids.length} payouts, ${wrong.length} wrong; settled ${seconds(performance.now() - began)} after the last lie`,
  );
}

const GHOST_MINOR = 4000;

/** Returns receipts of transfers that a reorganisation dropped. */
async function dropped({ treasury, payee, rpcUrl }: RoundContext): Promise<readonly Receipt[]> {
  const prepared = await Promise.all(numbers(3).map((n) => treasury.prepare(payee.wallet, GHOST_MINOR + n)));
  await nextBlocks(rpcUrl, 1);
  for (const { broadcast } of prepared) await broadcast();
  await nextBlocks(rpcUrl, 2);
  const receipts = await Promise.all(
    prepared.map(({ hash }) => rpc(rpcUrl, 'eth_getTransactionReceipt', [hash]) as Promise<Receipt | null>),
  );
  const mined = receipts.flatMap((receipt) => receipt ?? []);
  const head = Number(await rpc(rpcUrl, 'eth_blockNumber', []));
  const first = Math.min(...mined.map(({ blockNumber }) => Number(blockNumber)), head);
  await rpc(rpcUrl, 'anvil_reorg', [head - first + 1, []]);
  // A reorganisation sets anvil's clock back by its blocks. Soon every head would be too old.
  await rpc(rpcUrl, 'evm_setTime', [Math.floor(Date.now() / 1000)]);
  return mined;
}

async function nextBlocks(rpcUrl: string, blocks: number): Promise<void> {
  const height = async (): Promise<number> => Number(await rpc(rpcUrl, 'eth_blockNumber', []));
  const from = await height();
  await eventually('the chain continues', async () => (await height()) >= from + blocks);
}

async function lie({ node, quorum }: RoundContext, ghosts: readonly Receipt[], lies: string[]) {
  const until = performance.now() + LYING_MS;
  const choices = LIES.filter(({ consistent }) => quorum || !consistent);
  while (performance.now() < until) {
    const chosen = oneOf(choices);
    node.comeBack();
    await chosen.apply(node, ghosts);
    lies.push(chosen.name);
    await sleep(LIE_MS);
  }
}

async function wrongOutcomes(
  { shared, rpcUrl }: RoundContext,
  hashes: ReadonlyMap<string, string>,
): Promise<readonly unknown[]> {
  const outcomes = await outcomesOf(shared.pool, [...hashes.keys()]);
  const wrong: unknown[] = [];
  for (const [id, hash] of hashes) {
    const outcome = outcomes.get(id)!;
    const receipt = (await rpc(rpcUrl, 'eth_getTransactionReceipt', [hash])) as Receipt | null;
    const isThere = receipt?.status === '0x1';
    const isReceived = outcome.type === 'payout.received.v2';
    // A transfer on a busy machine may be sent after its payout has expired.
    const isLate = isThere && (await minedAt(rpcUrl, receipt)) > outcome.end;
    if ((isThere !== isReceived && !isLate) || (!isReceived && outcome.afterEnd < MARGIN_SECONDS)) {
      wrong.push({ ...outcome, hash, onTheChain: isThere });
    }
  }
  return wrong;
}

async function minedAt(rpcUrl: string, { blockNumber }: Receipt): Promise<number> {
  const block = (await rpc(rpcUrl, 'eth_getBlockByNumber', [blockNumber, false])) as { timestamp: string };
  return Number(block.timestamp);
}

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n);
