import { setTimeout as sleep } from 'node:timers/promises';
import { checkAcknowledged, checkReplays, checkWebhooks } from './acknowledged.js';
import { runAudit } from './audit.js';
import { checkBooks, totals, viewsAgree } from './books.js';
import { activePayee } from './payouts.js';
import { Receiver } from './receiver.js';
import { ReportLoad } from './report-load.js';
import { Sandbox } from './sandbox.js';
import { between, percentile, seconds, type SuiteOptions } from './suite.js';
import { Treasury } from './treasury.js';

const CLIENTS = 8;
const CLIENT_PAUSE_MS = 120;
const PAYEES = 6;
/** Short enough to see expiries, long enough that no outage of the run lets a real transfer expire. */
const WINDOW_SECONDS = 45;
/** A payout that a killed process was verifying is free for others after a minute. */
const LEASE_SECONDS = 150;

/** One failure of the sandbox; a line about it. */
export type Blow = (sandbox: Sandbox, load: ReportLoad) => Promise<string>;

/**
 * A sandbox under a load of reports suffers `count` blows. Then the load ends, every payout reaches its outcome, and the
 * whole books are checked: what was acknowledged is there once, the read models agree with the events, the receiver
 * got every outcome, and no process of the sandbox is left.
 */
export async function storm(options: SuiteOptions, blow: Blow): Promise<void> {
  const { count, verdict, say, sizes = {} } = options;
  const sandbox = await Sandbox.create({
    PAYOUT_VERIFICATION_WINDOW_SECONDS: String(sizes.window ?? WINDOW_SECONDS),
    PAYOUT_CHECK_INTERVAL_MS: '200',
    WEBHOOK_RETRY_SCHEDULE_SECONDS: '0,0.5,1,1,2,2,5,5,5,5',
  });
  let receiver: Receiver | null = null;
  let load: ReportLoad | null = null;
  try {
    await sandbox.spawn();
    await sandbox.ready();
    const { merchant, baseUrl, port } = sandbox;
    const payees = await Promise.all(Array.from({ length: PAYEES }, () => activePayee(baseUrl, merchant)));
    const { rpc_url: rpcUrl, usdc_address: usdcAddress } = sandbox.file.chain;
    const treasury = await Treasury.of({ rpcUrl, usdcAddress });
    receiver = await Receiver.register(baseUrl, merchant);
    load = new ReportLoad({ port, merchant, payees, treasury }, verdict, CLIENT_PAUSE_MS);
    load.start(CLIENTS);
    for (let n = 1; n <= count; n += 1) {
      await sleep(between(100, 1500));
      say(`${String(n).padStart(3)}  ${await blow(sandbox, load)}  acknowledged ${load.acknowledged.length}`);
    }
    await sleep(500);
    await load.stop();
    say(`load  ${load.acknowledged.length} reports acknowledged; tries: ${load.tally.toString()}`);
    const took = load.acknowledged.map(({ tookMs }) => tookMs);
    say(
      `      longest until acknowledged ${seconds(Math.max(...took))}, median ${percentile(took, 0.5).toFixed(0)} ms`,
    );
    await checkAll(sandbox, load, receiver, options);
  } finally {
    await load?.abandon();
    await finish(sandbox, receiver, options);
  }
}

async function checkAll(
  sandbox: Sandbox,
  load: ReportLoad,
  receiver: Receiver,
  { verdict, say, sizes = {} }: SuiteOptions,
): Promise<void> {
  const { pool } = sandbox;
  const settled = async (): Promise<boolean> => {
    const { pending, received, expired } = await totals(pool);
    const delivered = ['payout.received', 'payout.failed'].flatMap((type) =>
      receiver.subjects(type, 'payout_id'),
    );
    return pending === 0 && delivered.length >= received + expired && (await viewsAgree(pool));
  };
  const settleMs = ((sizes.window ?? WINDOW_SECONDS) + LEASE_SECONDS) * 1000;
  await verdict.eventually('every payout has its outcome, listed and delivered', settled, settleMs);
  const { reported, received, expired, pending } = await totals(pool);
  say(`books ${reported} reported, ${received} received, ${expired} expired, ${pending} pending`);
  say(`hooks ${receiver.tally.toString()}`);
  await checkBooks(pool, verdict);
  await checkAcknowledged(pool, load.acknowledged, verdict);
  await checkReplays(sandbox, load.acknowledged, verdict);
  await checkWebhooks(pool, receiver, verdict);
  say(`audit ${await runAudit(sandbox.databaseUrl, verdict)}`);
}

async function finish(
  sandbox: Sandbox,
  receiver: Receiver | null,
  { verdict, say }: SuiteOptions,
): Promise<void> {
  try {
    const end = await sandbox.stop();
    verdict.expect(
      end === 'exit code 0' || end === 'exit code 143' || end === 'signal SIGTERM',
      'SIGTERM ends it',
      end,
    );
    const left = sandbox.parts();
    verdict.none(left, 'a process of the sandbox is left');
    say(`end   ${end}, ${left.length} processes left`);
  } finally {
    await receiver?.stop();
    await sandbox.remove();
  }
}
