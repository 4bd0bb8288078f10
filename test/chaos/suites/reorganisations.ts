import { Wallet } from 'ethers';
import type pg from 'pg';
import { eventually } from '../../../bench/support/wait.js';
import { ExchangeClient } from '../../support/exchange/exchange-client.js';
import { checkBooks } from '../support/books.js';
import { SALE, checkMoney } from '../support/orders/order-facts.js';
import { createPayee } from '../../support/payouts/payout-calls.js';
import { reportPayout, type Payee } from '../support/payouts.js';
import {
  fickleContract,
  balanceOf,
  transfersOf,
  type Transfer,
} from '../support/reorganisations/token-transfers.js';
import { Shared } from '../support/shared.js';
import { between, oneOf, seconds, type Suite } from '../support/suite.js';
import type { Prepared } from '../support/treasury.js';
import { Tally, Verdict } from '../support/verdict.js';
import { rpc } from '../../../sandbox/chain.js';

/** A chain whose newest blocks are replaced by random others. */
class MovingChain {
  private base = 0;

  constructor(
    private readonly rpcUrl: string,
    private readonly confirmations: number,
    /** Counts the fates of transactions in replaced blocks. */
    private readonly tally: Tally,
  ) {}

  /** Protects the current blocks from being replaced. */
  async begin(): Promise<void> {
    this.base = await this.height();
  }

  /** Waits until all current blocks are confirmed. */
  async settle(): Promise<void> {
    await rpc(this.rpcUrl, 'anvil_mine', [`0x${this.confirmations.toString(16)}`]);
  }

  /**
   * Replaces at most `deepest` blocks. Each of `rivals` are transactions of one sender, who sends one of
   * them. The code of `contracts` is restored, because anvil forgets it when it returns to a state on disk.
   * It moves states to the disk after some hundred blocks.
   */
  async reorganise(rivals: readonly (readonly Prepared[])[], deepest: number, contracts: readonly string[]) {
    const codes = await Promise.all(contracts.map((each) => this.code(each)));
    for (let n = Math.floor(between(0, 4)); n > 0; n -= 1) await this.send(oneOf(oneOf(rivals)).raw);
    // The node mines accepted transactions with a delay, and leaves a gap if that meets a reorganisation.
    await eventually('everything sent is mined', async () => (await this.pending()) === 0, 10_000, 5);
    const height = await this.height();
    const depth = Math.floor(between(1, Math.min(deepest, height - this.base) + 1));
    if (height === this.base) return void (await rpc(this.rpcUrl, 'anvil_mine', ['0x1']));
    const again: (readonly [raw: string, block: number])[] = [];
    for (const [transactions, hash] of await this.mined(rivals, height - depth + 1, height)) {
      const fate = oneOf(['dropped', 'moved', 'moved', 'replaced'] as const);
      this.tally.add(fate);
      if (fate === 'dropped') continue;
      const chosen = transactions.find((each) => (each.hash === hash) === (fate === 'moved'));
      if (chosen !== undefined) again.push([chosen.raw, Math.floor(between(0, depth))]);
    }
    await rpc(this.rpcUrl, 'anvil_reorg', [depth, again]);
    for (const [place, contract] of contracts.entries())
      if ((await this.code(contract)) === '0x')
        await rpc(this.rpcUrl, 'anvil_setCode', [contract, codes[place]]);
    if (Math.random() < 0.5) await rpc(this.rpcUrl, 'anvil_mine', ['0x1']);
  }

  private async mined(
    rivals: readonly (readonly Prepared[])[],
    from: number,
    to: number,
  ): Promise<readonly (readonly [rivals: readonly Prepared[], hash: string])[]> {
    const mined: (readonly [rivals: readonly Prepared[], hash: string])[] = [];
    for (let number = from; number <= to; number += 1) {
      const at = `0x${number.toString(16)}`;
      const { transactions } = (await rpc(this.rpcUrl, 'eth_getBlockByNumber', [at, false])) as {
        transactions: string[];
      };
      for (const hash of transactions) {
        const sender = rivals.find((each) => each.some((transaction) => transaction.hash === hash));
        if (sender !== undefined) mined.push([sender, hash]);
      }
    }
    return mined;
  }

  /** Ignores refusals, because the sender may have replaced the transaction. */
  private async send(raw: string): Promise<void> {
    await rpc(this.rpcUrl, 'eth_sendRawTransaction', [raw]).catch(() => undefined);
  }

  private code(address: string): Promise<unknown> {
    return rpc(this.rpcUrl, 'eth_getCode', [address, 'latest']);
  }

  private async pending(): Promise<number> {
    const { pending } = (await rpc(this.rpcUrl, 'txpool_status', [])) as { pending: string };
    return Number(pending);
  }

  private async height(): Promise<number> {
    return Number(await rpc(this.rpcUrl, 'eth_blockNumber', []));
  }
}

interface Reported {
  readonly id: string;
  readonly payee: Payee;
  readonly minor: number;
  readonly hash: string;
}

interface Compared {
  readonly pool: pg.Pool;
  readonly rpcUrl: string;
  readonly usdcAddress: string;
  readonly reported: readonly Reported[];
  readonly deposits: ReadonlyMap<string, string>;
}

/** Compares all money of payouts and orders with a chain that no longer changes. */
async function checkAgainstChain(
  { pool, rpcUrl, usdcAddress, reported, deposits }: Compared,
  verdict: Verdict,
  say: (line: string) => void,
): Promise<void> {
  const onChain = await transfersOf(rpcUrl, usdcAddress);
  const transfersTo = (address: string): readonly Transfer[] => onChain.get(address.toLowerCase()) ?? [];
  for (const address of new Set([...reported.map(({ payee }) => payee.wallet), ...deposits.values()])) {
    const came = transfersTo(address).reduce((sum, { minor }) => sum + minor, 0n);
    if ((await balanceOf(rpcUrl, usdcAddress, address)) !== came)
      throw new Error(`the transfers to ${address} are not its balance`);
  }
  const due = reported.filter(({ payee, minor, hash }) =>
    transfersTo(payee.wallet).some((each) => each.hash === hash && each.minor === BigInt(minor)),
  );
  const { rows } = await pool.query<{ line: string }>(
    `select concat_ws(' ', data::json->>'payout_id', data::json->>'value') as line
     from event_store.events where type = 'payout.received.v2'`,
  );
  verdict.equal(
    rows
      .map(({ line }) => line)
      .sort()
      .join('\n'),
    due
      .map(({ id, minor }) => `${id} ${minor}`)
      .sort()
      .join('\n'),
    'payouts received are those on the chain',
  );
  say(`${due.length} of ${reported.length} payouts received`);
  const sent = [...deposits].flatMap(([orderId, address]) =>
    transfersTo(address).map((transfer) => ({ orderId, ...transfer })),
  );
  await checkMoney(pool, sent, verdict, say);
}

const CONFIRMATIONS = 8;
/** Only blocks below the confirmations are replaced for payouts, because a received payout is final. */
const SHALLOW = CONFIRMATIONS - 1;
/** Confirmed deposits of orders can go missing, which the service records. */
const DEEP = 2 * CONFIRMATIONS;
/** The number of reorganisations before new transfers are prepared, below all replaced blocks. */
const BATCH = 10;
const PAYEES = 3;
const ORDERS = 3;

/** Returns minor units of USDC. The amount of an order is 100 USDC. */
function randomAmount(): number {
  const bounds = oneOf([
    [1e5, 1e6],
    [1e6, 9e6],
    [3e7, 7e7],
    [1e8, 1e8 + 1],
    [1e8, 2e8],
  ] as const);
  return Math.floor(between(bounds[0], bounds[1]));
}

/**
 * Replaces random blocks of the dev chain `--count` times, while transfers of payouts and deposits of orders
 * are mined. Removed transactions return in another order or later, disappear, pay another recipient, or are
 * replaced by another of the same sender. Orders wait for `--seconds N` (20 by default). In the end books and
 * chain agree.
 */
export const reorganisations: Suite = async ({ count, verdict, say, sizes = {} }) => {
  await Shared.run(async (shared) => {
    const { rpcUrl, usdcAddress } = await shared.chain();
    const {
      baseUrl,
      client: merchant,
      exchange,
    } = await shared.service('service', {
      PAYOUT_FINALITY: String(CONFIRMATIONS),
      PAYOUT_CHECK_INTERVAL_MS: '100',
      EXCHANGE_SCAN_INTERVAL_MS: '50',
      EXCHANGE_CHECK_INTERVAL_MS: '100',
      EXCHANGE_SETTLE_MS: '200',
      EXCHANGE_ORDER_EXPIRY_SECONDS: String(sizes.seconds ?? 20),
    });
    const payees: Payee[] = [];
    for (let n = 0; n < PAYEES; n += 1) payees.push(await createPayee(merchant));
    const client = new ExchangeClient(baseUrl, exchange);
    const treasury = await shared.treasury();
    const tally = new Tally();
    const chain = new MovingChain(rpcUrl, CONFIRMATIONS, tally);
    const reported: Reported[] = [];
    const deposits = new Map<string, string>();

    const newOrder = async (): Promise<string> => {
      const { order } = (await client.order(SALE)).json<{ order: { id: string; deposit_address: string } }>();
      deposits.set(order.id, order.deposit_address);
      return order.deposit_address;
    };
    const report = async (transactions: readonly Prepared[], contract: string): Promise<void> => {
      for (const { to, minor, hash } of transactions)
        for (const payee of payees)
          if (to === payee.wallet || to === contract)
            reported.push({ id: await reportPayout(merchant, payee, minor, hash), payee, minor, hash });
    };

    for (let done = 0, batch = 0; done < count; batch += 1) {
      const isDeep = batch % 2 === 1;
      const orders = await Promise.all(Array.from({ length: ORDERS }, newOrder));
      const recipients = isDeep ? orders : [...payees.map(({ wallet }) => wallet), ...orders];
      const contract = Wallet.createRandom().address;
      await fickleContract(rpcUrl, usdcAddress, contract, recipients);
      const rivals = await Promise.all(
        Array.from({ length: BATCH }, (_, n) => {
          const to = () => (n % 3 === 0 ? contract : oneOf(recipients));
          return treasury.rivals([to(), to()], randomAmount(), contract);
        }),
      );
      await chain.settle();
      await chain.begin();
      if (!isDeep) await report(rivals.flat(), contract);
      for (const end = Math.min(done + BATCH, count); done < end; done += 1)
        await chain.reorganise(rivals, isDeep ? DEEP : SHALLOW, [usdcAddress, contract]);
      if (batch % 10 === 9) say(`${done} reorganisations: ${tally.toString()}, ${reported.length} payouts`);
    }
    await chain.settle();
    const began = performance.now();
    const compared = { pool: shared.pool, rpcUrl, usdcAddress, reported, deposits };
    const agree = async (): Promise<boolean> => {
      const trial = new Verdict();
      await checkAgainstChain(compared, trial, () => undefined);
      return trial.broken.length === 0;
    };
    await eventually('books and chain agree', agree, 120_000, 500).catch(() => undefined);
    say(`${tally.toString()}; settled ${seconds(performance.now() - began)} after the last reorganisation`);
    await checkAgainstChain(compared, verdict, say);
    say(await checkBooks(shared, verdict));
  });
};
