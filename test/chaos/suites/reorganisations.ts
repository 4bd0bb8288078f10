import { Wallet } from 'ethers';
import { eventually } from '../../../bench/support/wait.js';
import { ExchangeClient } from '../../support/exchange/exchange-client.js';
import { checkBooks } from '../support/books.js';
import { SALE } from '../support/orders/order-facts.js';
import { activePayee, reportPayout, type Payee } from '../support/payouts.js';
import { MovingChain } from '../support/reorganisations/moving-chain.js';
import { checkAgainstChain, type Reported } from '../support/reorganisations/money-books.js';
import { fickleContract } from '../support/reorganisations/token-transfers.js';
import { Shared } from '../support/shared.js';
import { between, oneOf, seconds, type Suite } from '../support/suite.js';
import type { Prepared } from '../support/treasury.js';
import { Tally, Verdict } from '../support/verdict.js';

/** The confirmations that a transfer needs. */
const CONFIRMATIONS = 8;
/** A received payout is final, so that only blocks below the confirmations are replaced. */
const SHALLOW = CONFIRMATIONS - 1;
/** Confirmed deposits can go missing, and the service records it. */
const DEEP = 2 * CONFIRMATIONS;
/** The reorganisations before new transfers are prepared, below all replaced blocks. */
const BATCH = 10;
const PAYEES = 3;
const ORDERS = 3;

/** Minor units of USDC; the amount of an order is 100 USDC. */
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
 * Replaces random blocks of the dev chain, `--count` times, while transfers of payouts and deposits of orders are
 * mined. The removed transactions return in another order, return later, disappear, are replaced by another of the same
 * sender, or pay another recipient. Orders wait for `--seconds N` (20 by default). In the end books and chain agree.
 */
export const reorganisations: Suite = async ({ count, verdict, say, sizes = {} }) => {
  const shared = await Shared.start();
  try {
    const { rpcUrl, usdcAddress } = await shared.chain();
    const { baseUrl, merchant, exchange } = await shared.service('service', {
      PAYOUT_FINALITY: String(CONFIRMATIONS),
      PAYOUT_CHECK_INTERVAL_MS: '100',
      EXCHANGE_SCAN_INTERVAL_MS: '50',
      EXCHANGE_CHECK_INTERVAL_MS: '100',
      EXCHANGE_SETTLE_MS: '200',
      EXCHANGE_ORDER_EXPIRY_SECONDS: String(sizes.seconds ?? 20),
    });
    const payees: Payee[] = [];
    for (let n = 0; n < PAYEES; n += 1) payees.push(await activePayee(baseUrl, merchant));
    const client = new ExchangeClient(baseUrl, exchange);
    const treasury = await shared.treasury();
    const tally = new Tally();
    const chain = new MovingChain(rpcUrl, CONFIRMATIONS, tally);
    const reported: Reported[] = [];
    const deposits = new Map<string, string>();

    const newOrder = async (): Promise<string> => {
      const created = await client.order(SALE);
      const { order } = created.json<{ order: { id: string; deposit_address: string } }>();
      deposits.set(order.id, order.deposit_address);
      return order.deposit_address;
    };
    const report = async (transactions: readonly Prepared[], contract: string): Promise<void> => {
      for (const { to, minor, hash } of transactions)
        for (const payee of payees)
          if (to === payee.wallet || to === contract)
            reported.push({
              id: await reportPayout(baseUrl, merchant, payee, minor, hash),
              payee,
              minor,
              hash,
            });
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
  } finally {
    await shared.close();
  }
};
