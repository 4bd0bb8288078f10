import { randomUUID } from 'node:crypto';
import type { SignedRequest } from '../../../bench/support/sign.js';
import { eventually } from '../../../bench/support/wait.js';
import { REQUEST_FAILPOINTS } from '../../support/failpoints.js';
import { count as countRows } from '../../../bench/support/count.js';
import { checkBooks } from '../support/books.js';
import { SignedClient } from '../../support/http/signed-client.js';
import { createPayee } from '../../support/payouts/payout-calls.js';
import { CREATE_USER, keyed, REGISTER_ENDPOINT, REPORT, type Operation } from '../support/payouts.js';
import { Line, type Outcome, type Responded } from '../support/line.js';
import type { ServiceProcess } from '../../../bench/support/service.js';
import { Shared } from '../support/shared.js';
import type { Suite, SuiteOptions } from '../support/suite.js';
import { Tally, type Verdict } from '../support/verdict.js';

type Failpoint = (typeof REQUEST_FAILPOINTS)[number];

/** A retry after these failpoints must be a replay. Before `commit.sent` nothing is written. */
const COMMITTED: readonly Failpoint[] = ['commit.done', 'views.waited', 'response.ready', 'response.sent'];
const RETRIES = 20;
/** The operations of each round. A merchant has at most ten endpoints. */
const ROUNDS: readonly (readonly Operation[])[] = [
  [REPORT],
  [REPORT, CREATE_USER, REGISTER_ENDPOINT],
  [REPORT, CREATE_USER],
];

/**
 * Kills a process at each failpoint of a keyed request, and repeats the request under its key. Even rounds
 * repeat it once at another process, odd rounds concurrently at its replacement. The result is one event,
 * 201, and consistent read models.
 */
export const failpoints: Suite = async (options) => {
  await Shared.run(async (shared) => {
    const other = await shared.service('other');
    const payees = new Map<string, string>();
    for (let round = 0; round < options.count; round += 1) {
      for (const point of REQUEST_FAILPOINTS) {
        for (const operation of ROUNDS[Math.min(round, ROUNDS.length - 1)]!) {
          if (point === 'views.waited' && !operation.waitsForViews) continue;
          const doomed = await shared.service('service', { FAILPOINT: point });
          const { merchant } = doomed;
          const client = new SignedClient(other.baseUrl, merchant);
          const userId = payees.get(merchant.apiKey) ?? (await createPayee(client)).id;
          payees.set(merchant.apiKey, userId);
          const how =
            round % 2 === 0
              ? { replace: () => Promise.resolve(other), atOnce: 1 }
              : { replace: () => shared.service('service'), atOnce: RETRIES };
          const service = await dieAndRetry({ point, operation, userId, doomed, ...how }, shared, options);
          if (service !== other) await service.stop();
        }
      }
    }
    await checkBooks(shared, options.verdict);
  });
};

interface Death {
  readonly point: Failpoint;
  readonly operation: Operation;
  readonly userId: string;
  readonly doomed: ServiceProcess;
  readonly replace: () => Promise<ServiceProcess>;
  readonly atOnce: number;
}

async function dieAndRetry(
  { point, operation, userId, doomed, replace, atOnce }: Death,
  shared: Shared,
  { say, verdict }: SuiteOptions,
): Promise<ServiceProcess> {
  const where = `${operation.name} killed at ${point}`;
  const { merchant } = doomed;
  const key = randomUUID();
  const body = operation.body(userId);
  const written = `event_store.events where type = '${operation.event}'
    and data::json->>'merchant_id' = '${merchant.apiKey}'`;
  const count = (): Promise<number> => countRows(shared.pool, written);
  const before = await count();
  const line = new Line(doomed.port, verdict);
  const first = await line.exchange(keyed(merchant, operation.path, body, key));
  line.close();
  await eventually(`${where}: the process died`, () => Promise.resolve(doomed.exited() !== null));
  verdict.equal(doomed.exited(), 'signal SIGKILL', `${where}: its end`);
  if (point !== 'response.sent') verdict.equal(first.kind, 'cut_off', `${where}: the first try`);

  const service = await replace();
  const retries = await retry(service, atOnce, verdict, () => keyed(merchant, operation.path, body, key));
  verdict.equal((await count()) - before, 1, `${where}: events written`);
  checkRetries(where, point, retries, first, verdict);
  const statuses = new Tally();
  for (const each of retries) statuses.add(describe(each));
  say(
    `${point.padEnd(22)} ${operation.name.padEnd(18)} first ${describe(first)}; retries: ${statuses.toString()}`,
  );
  return service;
}

/** Sends that many concurrent retries, then one more. */
async function retry(
  service: ServiceProcess,
  atOnce: number,
  verdict: Verdict,
  request: () => SignedRequest,
): Promise<Outcome[]> {
  const send = async (): Promise<Outcome> => {
    const line = new Line(service.port, verdict);
    const outcome = await line.exchange(request());
    line.close();
    return outcome;
  };
  const outcomes = await Promise.all(Array.from({ length: atOnce }, send));
  outcomes.push(await send());
  return outcomes;
}

function checkRetries(
  where: string,
  point: Failpoint,
  retries: readonly Outcome[],
  first: Outcome,
  verdict: Verdict,
): void {
  const created = retries.filter(
    (each): each is Responded => each.kind === 'responded' && each.status === 201,
  );
  verdict.none(
    `${where}: a retry is neither 201 nor 409`,
    retries,
    (each) => !(each.kind === 'responded' && [201, 409].includes(each.status)),
  );
  verdict.expect(created.length > 0, `${where}: a retry gets 201`);
  const bodies = new Set(created.map(({ body }) => body));
  if (first.kind === 'responded') bodies.add(first.body);
  verdict.equal(bodies.size, 1, `${where}: different bodies of 201`);
  const originals = created.filter(({ headers }) => headers['idempotent-replayed'] === undefined).length;
  if (COMMITTED.includes(point)) verdict.equal(originals, 0, `${where}: retries that are no replay`);
  else if (point !== 'commit.sent') verdict.equal(originals, 1, `${where}: retries that are no replay`);
  else verdict.expect(originals <= 1, `${where}: at most one retry is no replay`);
}

const describe = (outcome: Outcome): string =>
  outcome.kind === 'responded' ? String(outcome.status) : 'cut off';
