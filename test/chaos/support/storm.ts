import { setTimeout as sleep } from 'node:timers/promises';
import { checkAcknowledged, checkReplays, checkWebhooks, notified, undelivered } from './acknowledged.js';
import { checkBooks, haveReached, headOf } from './books.js';
import { SignedClient } from '../../support/http/signed-client.js';
import { createPayee } from '../../support/payouts/payout-calls.js';
import { ReportLoad, type LoadTarget } from './report-load.js';
import type { ServiceProcess } from '../../../bench/support/service.js';
import { Shared } from './shared.js';
import { between, percentile, seconds, type SuiteOptions } from './suite.js';
import { FLAKY_DELIVERIES, Receivers } from './webhooks/receivers.js';

const CLIENTS = 8;
const CLIENT_PAUSE_MS = 120;
const PAYEES = 6;
/** Short enough to see expiries, but too long for an outage to let a real transfer expire. */
const WINDOW_SECONDS = 45;
/** The time to settle after the window. A killed process's claim on a payout is free after a minute. */
const LEASE_SECONDS = 150;

export interface Struck {
  readonly shared: Shared;
  readonly service: ServiceProcess;
  readonly load: ReportLoad;
  readonly target: LoadTarget;
  readonly env: Readonly<Record<string, string>>;
}

interface Ground {
  readonly start?: () => Promise<Shared>;
  /** The upper bound of each client's pause after a report. */
  readonly pauseMs?: number;
}

/** Causes one failure and returns a line about it. */
type Blow = (struck: Struck) => Promise<string>;

/**
 * A service under a load of reports suffers `count` failures. Then the load ends, and every payout reaches
 * its outcome. Each acknowledged report exists once, the read models agree with the events, and the receiver
 * got every outcome.
 */
export async function storm(
  options: SuiteOptions,
  blow: Blow,
  { start = () => Shared.start(), pauseMs = CLIENT_PAUSE_MS }: Ground = {},
): Promise<void> {
  const { count, verdict, say } = options;
  const env = stormEnv(options);
  await Shared.run(async (shared) => {
    const service = await shared.service('service', env);
    await underLoad(shared, service, options, pauseMs, async (load, target) => {
      for (let n = 1; n <= count; n += 1) {
        await sleep(between(100, 1500));
        const line = await blow({ shared, service, load, target, env });
        say(`${String(n).padStart(3)}  ${line}  acknowledged ${load.acknowledged.length}`);
      }
      await sleep(500);
    });
    verdict.equal(await service.stop(), 'exit code 0', 'SIGTERM ends it');
  }, start());
}

export function stormEnv({ sizes = {} }: Pick<SuiteOptions, 'sizes'>): Readonly<Record<string, string>> {
  return {
    PAYOUT_VERIFICATION_WINDOW_SECONDS: String(sizes.window ?? WINDOW_SECONDS),
    PAYOUT_CHECK_INTERVAL_MS: '200',
    ...FLAKY_DELIVERIES,
  };
}

/** Works while clients report payouts at the port, then checks outcomes and books. Returns the load. */
export async function underLoad(
  shared: Shared,
  { merchant, port }: Pick<ServiceProcess, 'merchant' | 'port'>,
  options: SuiteOptions,
  pauseMs: number,
  work: (load: ReportLoad, target: LoadTarget) => Promise<void>,
): Promise<ReportLoad> {
  const { verdict, say } = options;
  const client = new SignedClient(`http://127.0.0.1:${port}`, merchant);
  const payees = await Promise.all(Array.from({ length: PAYEES }, () => createPayee(client)));
  const receiver = await shared.ends.start(Receivers.register(client));
  const target = { port, merchant, payees, treasury: await shared.treasury() };
  const load = new ReportLoad(target, verdict, pauseMs);
  shared.ends.add(() => load.abandon());
  load.start(CLIENTS);
  await work(load, target);
  await load.stop();
  say(`load  ${load.acknowledged.length} reports acknowledged; tries: ${load.tally.toString()}`);
  const took = load.acknowledged.map(({ beganAt, confirmedAt }) => confirmedAt - beganAt);
  say(
    `      longest until acknowledged ${seconds(Math.max(...took))}, median ${percentile(took, 0.5).toFixed(0)} ms`,
  );
  await checkAll(shared, { merchant, port }, load, receiver, options);
  return load;
}

async function checkAll(
  shared: Shared,
  { merchant, port }: Pick<ServiceProcess, 'merchant' | 'port'>,
  load: ReportLoad,
  receiver: Receivers,
  { verdict, say, sizes = {} }: SuiteOptions,
): Promise<void> {
  const { pool } = shared;
  const settled = async (): Promise<boolean> =>
    (await haveReached(pool, await headOf(pool))) && (await undelivered(pool, receiver)) === 0;
  const settleMs = ((sizes.window ?? WINDOW_SECONDS) + LEASE_SECONDS) * 1000;
  await verdict.eventually('every payout has its outcome, listed and delivered', settled, settleMs);
  say(`hooks ${receiver.arrived.size} arrived, ${receiver.accepted} accepted`);
  await checkAcknowledged(pool, load.acknowledged, verdict);
  await checkReplays({ merchant, port }, load.acknowledged, verdict);
  await checkWebhooks(pool, receiver, verdict);
  const webhooks = notified(receiver);
  verdict.equal(webhooks.length, new Set(webhooks).size, 'webhook-ids, one per outcome');
  say(`audit ${await checkBooks(shared, verdict)}`);
}
