import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SignedRequest } from '../../../bench/support/sign.js';
import { until } from '../../../sandbox/processes.js';
import { checkBooks } from '../support/books.js';
import { createPayee, randomHash } from '../../support/payouts/payout-calls.js';
import { keyed, REPORT, reportBody } from '../support/payouts.js';
import { Line, type Outcome } from '../support/line.js';
import type { ServiceProcess } from '../../../bench/support/service.js';
import { Shared } from '../support/shared.js';
import { between, seconds, type Suite, type SuiteOptions } from '../support/suite.js';
import { Tally, type Verdict } from '../support/verdict.js';

const CLIENTS = 24;
const SLOW_CLIENTS = 6;
const EXIT_WITHIN_MS = 35_000;

interface Sent {
  readonly reference: string;
  /** The time of its last byte, or of the first byte of a slow request, by `performance.now()`. */
  readonly at: number;
  readonly outcome: Outcome;
}

/**
 * SIGTERM under load on keep-alive connections. A request sent before it gets its whole response. A later one
 * gets its whole response too, or its connection ends without one and the request had no effect.
 */
export const sigterm: Suite = async (options) => {
  await Shared.run(async (shared) => {
    let userId: string | undefined;
    for (let round = 1; round <= options.count; round += 1) {
      const service = await shared.service('service');
      userId ??= (await createPayee(service.client)).id;
      await terminateUnderLoad(round, service, userId, shared, options);
    }
    // The new process updates the read models.
    await shared.service('service');
    options.say(await checkBooks(shared, options.verdict));
  });
};

async function terminateUnderLoad(
  round: number,
  service: ServiceProcess,
  userId: string,
  shared: Shared,
  { say, verdict }: SuiteOptions,
): Promise<void> {
  const sent: Sent[] = [];
  const slowEnd = new AbortController();
  const clients = [
    ...Array.from({ length: CLIENTS }, () => client(service, userId, sent, verdict)),
    ...Array.from({ length: SLOW_CLIENTS }, () => slowClient(service, userId, sent, verdict, slowEnd.signal)),
  ];
  await sleep(between(300, 1200));
  const terminated = performance.now();
  process.kill(service.pid, 'SIGTERM');
  await sleep(200);
  slowEnd.abort();
  const exited = await until(() => service.exited() !== null, EXIT_WITHIN_MS + 5000);
  const took = performance.now() - terminated;
  await Promise.all(clients);

  const where = `round ${round}`;
  const end = service.exited();
  verdict.expect(exited && took <= EXIT_WITHIN_MS, `${where}: exit within 35 s`, seconds(took));
  verdict.expect(
    ['exit code 0', 'exit code 143', 'signal SIGTERM'].includes(end ?? ''),
    `${where}: how it ended`,
    end,
  );
  const before = sent.filter(({ at }) => at < terminated);
  const after = sent.filter(({ at }) => at >= terminated);
  verdict.none(
    `${where}: a request sent before SIGTERM was cut off`,
    before,
    ({ outcome }) => outcome.kind === 'cut_off',
  );
  verdict.none(
    `${where}: a request sent before SIGTERM was not done`,
    before,
    ({ outcome }) => outcome.kind === 'responded' && outcome.status !== 201,
  );
  await checkLate(where, after, shared, verdict);
  const statuses = new Tally();
  for (const { outcome } of after)
    statuses.add(outcome.kind === 'responded' ? String(outcome.status) : outcome.why);
  say(
    `${where}  ${before.length} with a response before or across SIGTERM, later ones: ${statuses.toString() || 'none'}; ${end} after ${seconds(took)}`,
  );
}

async function checkLate(
  where: string,
  after: readonly Sent[],
  shared: Shared,
  verdict: SuiteOptions['verdict'],
): Promise<void> {
  const cutOff = after.filter(({ outcome }) => outcome.kind === 'cut_off');
  const refused = after.filter(({ outcome }) => outcome.kind === 'responded' && outcome.status === 503);
  verdict.none(
    `${where}: a response was cut off in the middle`,
    cutOff,
    ({ outcome }) => outcome.kind === 'cut_off' && outcome.received > 0,
  );
  verdict.none(
    `${where}: a request after SIGTERM is neither done nor refused with 503`,
    after,
    ({ outcome }) => outcome.kind === 'responded' && ![201, 503].includes(outcome.status),
  );
  verdict.none(`${where}: a request was done and its response never began`, await doneOf(cutOff, shared));
  verdict.none(`${where}: a request was refused with 503 and done anyway`, await doneOf(refused, shared));
}

/** Returns the requests that created a payout. */
async function doneOf(sent: readonly Sent[], { pool }: Shared): Promise<string[]> {
  const found = await pool.query<{ reference: string }>(
    `select reference from unnest($1::text[]) reference
     where exists (select from event_store.events where type = 'payout.reported.v1' and data like '%' || reference || '%')`,
    [sent.map(({ reference }) => reference)],
  );
  return found.rows.map(({ reference }) => reference);
}

async function client(service: ServiceProcess, userId: string, sent: Sent[], verdict: Verdict) {
  const line = new Line(service.port, verdict);
  for (;;) {
    const { reference, request } = report(service, userId);
    const responded = line.exchange(request);
    const at = performance.now();
    const outcome = await responded;
    sent.push({ reference, at, outcome });
    if (outcome.kind === 'cut_off' || outcome.headers.connection === 'close') break;
    await sleep(between(0, 30));
  }
  line.close();
}

/** Sends the head and most of the body, and the rest on the signal. */
async function slowClient(
  service: ServiceProcess,
  userId: string,
  sent: Sent[],
  verdict: Verdict,
  rest: AbortSignal,
): Promise<void> {
  const line = new Line(service.port, verdict);
  const { reference, request } = report(service, userId);
  const begun = line.begin(request);
  begun.sent.write(request.body.slice(0, -40));
  const at = performance.now();
  await new Promise((resolve) => rest.addEventListener('abort', resolve, { once: true }));
  begun.sent.end(request.body.slice(-40));
  sent.push({ reference, at, outcome: await begun.outcome });
  line.close();
}

function report(
  service: ServiceProcess,
  userId: string,
): { readonly reference: string; readonly request: SignedRequest } {
  const reference = randomUUID();
  const body = reportBody(userId, 12_500_000, randomHash(), reference);
  return { reference, request: keyed(service.merchant, REPORT.path, body, randomUUID()) };
}
