import { setTimeout as sleep } from 'node:timers/promises';
import type { Credentials } from '../../../bench/support/sign.js';
import type { Service } from '../../../bench/support/service.js';
import { eventually } from '../../../bench/support/wait.js';
import { checkEvents, checkViews, totals, viewsAgree } from '../support/books.js';
import { reportPayout } from '../support/outcomes.js';
import { activePayee, Treasury, type Payee } from '../support/payees.js';
import { Shared } from '../support/shared.js';
import { between, oneOf, seconds, type Suite, type SuiteOptions } from '../support/suite.js';

/** The window ends while the chain learns of the transfer. */
const WINDOW_SECONDS = 4;
const RACES = 40;
const RIVALS = 20;

interface Round {
  readonly services: readonly Service[];
  readonly payees: readonly Payee[];
  readonly treasury: Treasury;
  readonly who: Credentials;
}

/**
 * Two processes verify the same payouts. In each round the transfers of {@link RACES} payouts reach the chain around the
 * end of their window, and {@link RIVALS} pairs of payouts, reported to both processes at once, name one transfer each.
 * Exactly one outcome per payout, exactly one payout per transfer.
 */
export const races: Suite = async (options) => {
  const shared = await Shared.start();
  try {
    const env = {
      PAYOUT_VERIFICATION_WINDOW_SECONDS: String(WINDOW_SECONDS),
      PAYOUT_CHECK_INTERVAL_MS: '50',
      PAYOUT_FINALITY: '1',
    };
    const services = [await shared.service('first', env), await shared.service('second', env)];
    const { baseUrl, merchant } = services[0]!;
    const payees = await Promise.all([1, 2, 3].map(() => activePayee(baseUrl, merchant)));
    const treasury = await Treasury.of(await shared.chain());
    for (let round = 1; round <= options.count; round += 1) {
      await playRound(round, { services, payees, treasury, who: merchant }, shared, options);
    }
    await checkEvents(shared.pool, options.verdict);
    await checkViews(shared.pool, options.verdict);
  } finally {
    await shared.close();
  }
};

async function playRound(
  round: number,
  parts: Round,
  shared: Shared,
  { say, verdict }: SuiteOptions,
): Promise<void> {
  const before = await totals(shared.pool);
  const [pairs] = await Promise.all([
    Promise.all(Array.from({ length: RIVALS }, () => rivals(parts))),
    Promise.all(Array.from({ length: RACES }, () => raceWithExpiry(parts))),
  ]);
  const began = performance.now();
  await eventually(
    `round ${round}: every payout has its outcome`,
    async () => (await totals(shared.pool)).pending === 0 && viewsAgree(shared.pool),
    60_000,
  );
  const now = await totals(shared.pool);
  verdict.equal(now.reported - before.reported, RACES + 2 * RIVALS, `round ${round}: payouts`);
  const outcomes = await Promise.all(pairs.map((pair) => typesOf(pair, shared)));
  const wrong = outcomes.filter((pair) => pair.filter((type) => type === 'payout.received.v2').length !== 1);
  verdict.none(wrong, `round ${round}: of two payouts naming one transfer not exactly one was received`);
  const received = now.received - before.received - RIVALS;
  say(
    `round ${round}  at the end of the window ${received} of ${RACES} received, ${RACES - received} expired; one received in ${RIVALS - wrong.length} of ${RIVALS} pairs on one transfer; settled after ${seconds(performance.now() - began)}`,
  );
}

/** Reports first; the transfer is broadcast around the end of the window. */
async function raceWithExpiry({ services, payees, treasury, who }: Round): Promise<void> {
  const payee = oneOf(payees);
  const minor = Math.floor(between(1, 9_000_000));
  const { hash, broadcast } = await treasury.prepare(payee.wallet, minor);
  const reportedAt = performance.now();
  await reportPayout(oneOf(services).baseUrl, who, payee, minor, hash);
  const until = reportedAt + WINDOW_SECONDS * 1000 + between(-600, 600);
  await sleep(Math.max(0, until - performance.now()));
  await broadcast();
}

/** Two payouts naming one transfer, reported to both processes at once. Their ids. */
async function rivals({ services, payees, treasury, who }: Round): Promise<string[]> {
  const payee = oneOf(payees);
  const minor = Math.floor(between(1, 9_000_000));
  const hash = await treasury.transfer(payee.wallet, minor);
  return Promise.all(services.map(({ baseUrl }) => reportPayout(baseUrl, who, payee, minor, hash)));
}

async function typesOf(payouts: readonly string[], shared: Shared): Promise<string[]> {
  const found = await shared.pool.query<{ type: string }>(
    `select type from event_store.events where stream = any($1::text[]) and type <> 'payout.reported.v1'`,
    [payouts.map((id) => `payout-${id}`)],
  );
  return found.rows.map(({ type }) => type);
}
