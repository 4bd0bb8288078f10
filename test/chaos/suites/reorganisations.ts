import { Contract, JsonRpcProvider } from 'ethers';
import { eventually } from '../../../bench/support/wait.js';
import { rpc } from '../../../sandbox/chain.js';
import { ExchangeClient } from '../../support/exchange-client.js';
import { checkEvents, checkViews, viewsAgree } from '../support/books.js';
import { outcomesOf, reportPayout } from '../support/outcomes.js';
import { activePayee, Treasury, type Prepared } from '../support/payees.js';
import { Shared } from '../support/shared.js';
import { between, oneOf, seconds, type Suite, type SuiteOptions } from '../support/suite.js';

/** Blocks that a reorganisation never reaches; below them it replaces any number. */
const CONFIRMATIONS = 8;
/** Reorganisations between two moments at which new transfers are prepared, below all that is replaced. */
const BATCH = 20;
const PAYEES = 3;
const ORDERS = 3;
const ADDRESS = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T';
const BALANCE_OF = ['function balanceOf(address) view returns (uint256)'];

interface Reported {
  readonly id: string;
  readonly hash: string;
}

/**
 * `--count` random reorganisations of the dev chain, each of up to seven blocks, while transfers of payouts and deposits
 * of orders are mined. Of the transactions that it takes off the chain some come back in another order, some later, some
 * never, and some are replaced by another transfer of the same sender to somebody else. In the end books and chain agree.
 */
export const reorganisations: Suite = async (options) => {
  const shared = await Shared.start();
  try {
    const { rpcUrl, usdcAddress } = await shared.chain();
    const { baseUrl, merchant, exchange } = await shared.service('service', {
      PAYOUT_FINALITY: String(CONFIRMATIONS),
      PAYOUT_CHECK_INTERVAL_MS: '100',
      EXCHANGE_SCAN_INTERVAL_MS: '50',
    });
    const payees = [];
    for (let n = 0; n < PAYEES; n += 1) payees.push(await activePayee(baseUrl, merchant));
    const client = new ExchangeClient(baseUrl, { apiKey: exchange.api_key, secret: exchange.secret });
    const deposits = new Map<string, string>();
    for (let n = 0; n < ORDERS; n += 1) {
      const made = await client.order({ pair_id: 'USDCSOL', withdraw_address: ADDRESS });
      const { order } = made.json<{ order: { id: string; deposit_address: string } }>();
      deposits.set(order.id, order.deposit_address);
    }
    const addresses = [...deposits.values()];
    const walletOf = new Map(payees.map((payee) => [payee.wallet, payee]));
    const treasury = await Treasury.of({ rpcUrl, usdcAddress });
    const reported: Reported[] = [];
    const chain = new MovingChain(rpcUrl);
    const totals = { dropped: 0, moved: 0, replaced: 0 };
    for (let done = 0; done < options.count; done += BATCH) {
      await chain.settle();
      const rivals = await Promise.all(
        Array.from({ length: BATCH }, () => {
          const minor = Math.floor(between(1_000_000, 9_000_000));
          const to = [oneOf([...walletOf.keys(), ...addresses]), oneOf([...walletOf.keys(), ...addresses])];
          return treasury.rivals(to, minor);
        }),
      );
      await chain.begin();
      for (const { to, minor, hash } of rivals.flat()) {
        const payee = walletOf.get(to);
        if (payee === undefined) continue;
        reported.push({ id: await reportPayout(baseUrl, merchant, payee, minor, hash), hash });
      }
      for (let n = done; n < Math.min(done + BATCH, options.count); n += 1)
        await chain.reorganise(rivals, totals);
      options.say(
        `${Math.min(done + BATCH, options.count)} reorganisations: ${JSON.stringify(totals)}, ${reported.length} payouts`,
      );
    }
    await chain.settle();
    await checkBooks(
      { shared, rpcUrl, usdcAddress, payees: payees.map(({ wallet }) => wallet), deposits, reported },
      options,
    );
  } finally {
    await shared.close();
  }
};

/** A chain whose newest blocks are replaced by random others. */
class MovingChain {
  private base = 0;

  constructor(private readonly rpcUrl: string) {}

  /** Nothing that is on the chain now will be replaced. */
  async begin(): Promise<void> {
    this.base = await this.height();
  }

  /** Everything that is on the chain now counts. */
  async settle(): Promise<void> {
    await rpc(this.rpcUrl, 'anvil_mine', [`0x${CONFIRMATIONS.toString(16)}`]);
  }

  async reorganise(
    rivals: readonly (readonly Prepared[])[],
    totals: { dropped: number; moved: number; replaced: number },
  ): Promise<void> {
    for (let n = Math.floor(between(0, 4)); n > 0; n -= 1) await this.send(oneOf(oneOf(rivals)).raw);
    const height = await this.height();
    const depth = Math.floor(between(1, Math.min(CONFIRMATIONS, height - this.base + 1)));
    if (height - this.base < 1) return void (await rpc(this.rpcUrl, 'anvil_mine', ['0x1']));
    const mined: (readonly [rivals: readonly Prepared[], hash: string])[] = [];
    for (let number = height - depth + 1; number <= height; number += 1) {
      const at = `0x${number.toString(16)}`;
      const { transactions } = (await rpc(this.rpcUrl, 'eth_getBlockByNumber', [at, false])) as {
        transactions: string[];
      };
      for (const hash of transactions) {
        const sender = rivals.find((transfers) => transfers.some((each) => each.hash === hash));
        if (sender !== undefined) mined.push([sender, hash]);
      }
    }
    const again: (readonly [raw: string, block: number])[] = [];
    for (const [transfers, hash] of mined) {
      const fate = oneOf(['dropped', 'moved', 'moved', 'replaced'] as const);
      totals[fate] += 1;
      if (fate === 'dropped') continue;
      const chosen = transfers.find((each) => (each.hash === hash) === (fate === 'moved'));
      if (chosen !== undefined) again.push([chosen.raw, Math.floor(between(0, depth))]);
    }
    await rpc(this.rpcUrl, 'anvil_reorg', [depth, again]);
    if (Math.random() < 0.5) await rpc(this.rpcUrl, 'anvil_mine', ['0x1']);
  }

  /** The chain refuses what its sender has replaced. */
  private async send(raw: string): Promise<void> {
    await rpc(this.rpcUrl, 'eth_sendRawTransaction', [raw]).catch(() => undefined);
  }

  private async height(): Promise<number> {
    return Number(await rpc(this.rpcUrl, 'eth_blockNumber', []));
  }
}

interface Books {
  readonly shared: Shared;
  readonly rpcUrl: string;
  readonly usdcAddress: string;
  readonly payees: readonly string[];
  /** Addresses by order. */
  readonly deposits: ReadonlyMap<string, string>;
  readonly reported: readonly Reported[];
}

async function checkBooks(
  { shared: { pool }, rpcUrl, usdcAddress, payees, deposits, reported }: Books,
  { verdict, say }: SuiteOptions,
): Promise<void> {
  const onChain: string[] = [];
  for (const { id, hash } of reported) {
    const receipt = (await rpc(rpcUrl, 'eth_getTransactionReceipt', [hash])) as { status: string } | null;
    if (receipt?.status === '0x1') onChain.push(id);
  }
  const ids = reported.map(({ id }) => id);
  const began = performance.now();
  await eventually(
    'every transfer on the chain is a payout received',
    async () => (await outcomesOf(pool, ids)).size >= onChain.length && viewsAgree(pool),
    120_000,
  ).catch((error: Error) => verdict.expect(false, error.message));
  const received = [...(await outcomesOf(pool, ids)).keys()].sort();
  verdict.equal(
    JSON.stringify(received),
    JSON.stringify(onChain.sort()),
    'payouts received are those on the chain',
  );
  const provider = new JsonRpcProvider(rpcUrl, undefined, { cacheTimeout: -1 });
  const token = new Contract(usdcAddress, BALANCE_OF, provider);
  const balance = (address: string): Promise<bigint> =>
    token.getFunction('balanceOf')(address) as Promise<bigint>;
  try {
    let held = 0n;
    for (const wallet of payees) held += await balance(wallet);
    const sum = await pool.query<{ minor: string }>(
      `select coalesce(sum((data::json->>'value')::numeric), 0)::text as minor from event_store.events where type = 'payout.received.v2'`,
    );
    verdict.equal(sum.rows[0]!.minor, held.toString(), 'what the wallets hold is what was received');
    for (const [orderId, address] of deposits) {
      const due = (await balance(address)).toString();
      const found = async (): Promise<string> => {
        const { rows } = await pool.query<{ minor: string }>(
          'select coalesce(sum(amount_minor), 0)::text as minor from exchange.deposits where order_id = $1 and missing_since is null',
          [orderId],
        );
        return rows[0]!.minor;
      };
      await eventually('deposits are counted', async () => (await found()) === due, 60_000).catch(
        () => undefined,
      );
      verdict.equal(await found(), due, 'what a deposit address holds is what its order was paid');
    }
    say(
      `${received.length} of ${reported.length} payouts received, ${held} units; settled ${seconds(performance.now() - began)} after the last reorganisation`,
    );
  } finally {
    provider.destroy();
  }
  await checkEvents(pool, verdict);
  await checkViews(pool, verdict);
}
