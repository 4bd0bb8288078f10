import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../../bench/support/wait.js';
import { checkBooks } from '../support/books.js';
import { createPayee, randomHash } from '../../support/payouts/payout-calls.js';
import { outcomesOf, reportPayout } from '../support/payouts.js';
import { Shared } from '../support/shared.js';
import { between, type Suite } from '../support/suite.js';

const SKEWS_HOURS = [25, -25] as const;
const WINDOW_SECONDS = 8;
const PAYOUTS = 20;
const SKEW = new URL('../support/skew.mjs', import.meta.url).href;

/**
 * Three workers share a database. The clocks of two are wrong by 25 hours, one ahead and one behind.
 * Transfers reach the chain within the window or never. No payout expires early, or although its transfer
 * exists.
 */
export const skewedClock: Suite = async ({ count, say, verdict }) => {
  await Shared.run(async (shared) => {
    const env = {
      PAYOUT_VERIFICATION_WINDOW_SECONDS: String(WINDOW_SECONDS),
      PAYOUT_CHECK_INTERVAL_MS: '100',
    };
    const { client } = await shared.service('first', env);
    const payee = await createPayee(client);
    const treasury = await shared.treasury();
    for (let round = 1; round <= count; round += 1) {
      const workers = SKEWS_HOURS.map((hours) =>
        shared.process(`skewed-${round}-${hours}`, {
          ...env,
          ROLES: 'worker',
          NODE_OPTIONS: `--import=${SKEW}`,
          CHAOS_SKEW_MS: String(hours * 3_600_000),
        }),
      );
      await Promise.all(workers.map((each) => each.spawn()));
      const logs = workers.map(({ dir }) => join(dir, 'service.json.log'));
      await eventually('the workers with the wrong clocks say so', async () =>
        logs.every(
          (log) => existsSync(log) && readFileSync(log, 'utf8').includes('verification of payouts paused'),
        ),
      );
      const paid: string[] = [];
      const unpaid: string[] = [];
      await Promise.all(
        Array.from({ length: PAYOUTS }, async (_, n) => {
          const minor = 1_000_000 * round + n + 1;
          if (n % 2 === 0) {
            unpaid.push(await reportPayout(client, payee, minor, randomHash()));
            return;
          }
          const { hash, broadcast } = await treasury.prepare(payee.wallet, minor);
          paid.push(await reportPayout(client, payee, minor, hash));
          await sleep(between(0, (WINDOW_SECONDS * 1000) / 3));
          await broadcast();
        }),
      );
      const all = [...paid, ...unpaid];
      await eventually(
        `round ${round}: every payout has its outcome`,
        async () => (await outcomesOf(shared.pool, all)).size === all.length,
      );
      const outcomes = await outcomesOf(shared.pool, all);
      verdict.none(
        `round ${round}: a payout whose transfer is on the chain was not received`,
        paid,
        (id) => outcomes.get(id)?.type !== 'payout.received.v2',
      );
      verdict.none(
        `round ${round}: a payout without a transfer did not expire after its window`,
        unpaid,
        (id) => {
          const outcome = outcomes.get(id);
          return outcome?.type !== 'payout.expired.v1' || outcome.afterEnd < 0;
        },
      );
      for (const worker of workers) {
        verdict.equal(worker.exited(), null, `round ${round}: the worker with the wrong clock lives`);
        await worker.stop();
      }
      say(`round ${round}  ${paid.length} received, ${unpaid.length} expired`);
    }
    say(await checkBooks(shared, verdict));
  });
};
