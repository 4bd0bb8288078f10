import { rpc } from '../../../sandbox/chain.js';
import { eventually } from '../../../bench/support/wait.js';
import { checkEvents, checkViews, viewsAgree } from '../support/books.js';
import { randomHash } from '../support/operations.js';
import { outcomesOf, reportPayout } from '../support/outcomes.js';
import { activePayee, Treasury } from '../support/payees.js';
import { Shared } from '../support/shared.js';
import { percentile, seconds, type Suite, type SuiteOptions } from '../support/suite.js';

/** An attacker's reports in one round; each names a transaction of its own. */
const ATTACKS = 40;
/** Logs of each: 38,000 make a receipt of some 13 MB, in 15.4 million gas. */
const LOGS = 38_000;
const HONEST = 20;
const WINDOW_SECONDS = 10;
/** What an honest payout may wait while the attack is on, on a machine with other work. */
const PATIENCE_MS = 30_000;

/**
 * One merchant reports public transactions whose receipts have {@link LOGS} logs each, on a real chain; another reports
 * honest transfers one after the other. Every honest one is received soon, and every attack expires with its reason.
 */
export const giantReceipts: Suite = async (options) => {
  const { count, say, verdict, sizes = {} } = options;
  const shared = await Shared.start();
  try {
    const env = { PAYOUT_VERIFICATION_WINDOW_SECONDS: String(WINDOW_SECONDS) };
    const service = await shared.service('service', env);
    const chain = await shared.chain();
    const [attacker, honest] = await Promise.all([
      activePayee(service.baseUrl, service.merchant),
      activePayee(service.baseUrl, service.secondMerchant),
    ]);
    const treasury = await Treasury.of(chain);
    const giants: string[] = [];
    for (let n = 0; n < ATTACKS; n += 1) giants.push(await giant(chain.rpcUrl, sizes.logs ?? LOGS));
    say(
      `${ATTACKS} transactions with ${sizes.logs ?? LOGS} logs, the receipt of one has ${await sizeOf(chain.rpcUrl, giants[0]!)}`,
    );
    for (let round = 1; round <= count; round += 1) {
      const attacks = await Promise.all(
        giants.map((hash) => reportPayout(service.baseUrl, service.merchant, attacker, 1, hash)),
      );
      attacks.push(await reportPayout(service.baseUrl, service.merchant, attacker, 1, randomHash()));
      const waits: number[] = [];
      for (let n = 0; n < (sizes.honest ?? HONEST); n += 1) {
        const hash = await treasury.transfer(honest.wallet, 1_000_000 + n);
        const began = performance.now();
        const id = await reportPayout(service.baseUrl, service.secondMerchant, honest, 1_000_000 + n, hash);
        const ended = async (): Promise<boolean> => (await outcomesOf(shared.pool, [id])).has(id);
        await eventually('an honest payout has its outcome', ended, 60_000);
        const outcome = (await outcomesOf(shared.pool, [id])).get(id);
        verdict.equal(outcome?.type, 'payout.received.v2', `round ${round}: an honest payout`);
        waits.push(performance.now() - began);
      }
      verdict.expect(
        Math.max(...waits) < PATIENCE_MS,
        `round ${round}: every honest payout is received within ${seconds(PATIENCE_MS)}`,
        seconds(Math.max(...waits)),
      );
      const began = performance.now();
      await eventually(
        'every attack has its outcome',
        async () =>
          (await outcomesOf(shared.pool, attacks)).size === attacks.length && viewsAgree(shared.pool),
        120_000,
      );
      const outcomes = [...(await outcomesOf(shared.pool, attacks)).values()];
      verdict.none(
        outcomes.filter(({ type, afterEnd }) => type !== 'payout.expired.v1' || afterEnd < 0),
        `round ${round}: an attack did not expire, or too early`,
      );
      say(
        `round ${round}  honest payouts received after ${seconds(percentile(waits, 0.5))} in the middle, ${seconds(Math.max(...waits))} at most; the attacks expired ${seconds(performance.now() - began)} later`,
      );
    }
    await checkAll(shared, options);
  } finally {
    await shared.close();
  }
};

async function checkAll({ pool }: Shared, { verdict }: SuiteOptions): Promise<void> {
  await checkEvents(pool, verdict);
  await checkViews(pool, verdict);
}

/** A transaction whose code emits `logs` empty logs while it creates a contract. Its hash, mined. */
async function giant(rpcUrl: string, logs: number): Promise<string> {
  const [from] = (await rpc(rpcUrl, 'eth_accounts', [])) as string[];
  // PUSH4 logs; 5: JUMPDEST, LOG0 of no bytes, subtract one, JUMPI to 5; STOP.
  const data = `0x63${logs.toString(16).padStart(8, '0')}5b5f5fa06001900380600557${'00'}`;
  const gas = `0x${(logs * 410 + 500_000).toString(16)}`;
  return (await rpc(rpcUrl, 'eth_sendTransaction', [{ from, data, gas }])) as string;
}

async function sizeOf(rpcUrl: string, hash: string): Promise<string> {
  const receipt = (await rpc(rpcUrl, 'eth_getTransactionReceipt', [hash])) as { status: string };
  if (receipt.status !== '0x1') throw new Error('a transaction with many logs failed');
  return `${(JSON.stringify(receipt).length / 1_000_000).toFixed(1)} MB`;
}
