import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { ContractChecker } from '../../support/http/openapi.js';
import { checkBooks, headOf } from '../support/books.js';
import { Oracle } from '../support/fuzz/admin/oracle.js';
import { fill, REASON } from '../support/fuzz/admin/merchants.js';
import { harmlessRequests, scopedRequests, type ScopedRequest } from '../support/fuzz/admin/requests.js';
import { addUnderReview, addVictims } from '../support/fuzz/admin/subjects.js';
import { createAdminWorld, keep, type AdminWorld } from '../support/fuzz/admin/world.js';
import { Fuzzer } from '../support/fuzz/fuzzer.js';
import { runFuzzer } from '../support/fuzz/run-fuzzer.js';
import { Shared } from '../support/shared.js';
import { chooseSeed, type Suite } from '../support/suite.js';
import type { Verdict } from '../support/verdict.js';

const OF_REFUSAL = ['operation.requested.v1', 'operation.failed.v1', 'operation.lapsed.v1'];
const DECISIONS = ['operation.rejected.v1', 'operation.withdrawn.v1', 'operation.confirmed.v1'];

/** All operations, decisions and portal changes are acknowledged, except `unknown` ones without response. */
async function checkRefusals(
  pool: pg.Pool,
  since: string,
  oracle: Oracle,
  verdict: Verdict,
  unknown: number,
): Promise<{ readonly operations: number; readonly executed: number }> {
  const { rows } = await pool.query<{ id: string; types: string[] }>(
    `select substr(stream, 11) as id, array_agg(type order by revision) as types from event_store.events
     where stream like 'operation-%' and position > $1
     group by 1 having not bool_or(type = 'operation.requested.v1' and data::json->>'reason' = $2)`,
    [since, REASON],
  );
  const all = rows.filter(({ types }) => types[0] === 'operation.requested.v1');
  const changed = all.filter(
    ({ types }) => types.some((type) => !OF_REFUSAL.includes(type)) || types.length === 1,
  );
  const unannounced = changed.filter(({ id }) => !oracle.acknowledged.has(id));
  verdict.expect(
    unannounced.length <= unknown,
    'no refused request leaves an operation',
    unannounced.slice(0, 3),
  );
  const decided = all.filter(
    ({ types }) =>
      types.some((type) => DECISIONS.includes(type)) ||
      (types.includes('operation.approved.v1') && types.includes('operation.executed.v1')),
  );
  const undecided = decided.filter(({ id }) => !oracle.decided.has(id));
  verdict.expect(undecided.length <= unknown, 'no refused request decides', undecided.slice(0, 3));
  const { rows: portal } = await pool.query<{ request: string; type: string }>(
    `select metadata::json->>'request_id' as request, type from event_store.events
     where position > $1 and metadata::json->>'portal_session_id' is not null`,
    [since],
  );
  const refused = portal.filter(({ request }) => !oracle.written.has(request));
  verdict.expect(refused.length <= unknown, 'no refused request of the portal writes', refused.slice(0, 3));
  return {
    operations: all.length,
    executed: all.filter(({ types }) => types.includes('operation.executed.v1')).length,
  };
}

/** Each credential has 600 requests a minute, and a long run needs many. */
const PEOPLE = 4;
const LONG_RUN = 20_000;
const KEEP_MS = 3000;
/** A longer wait than a busy machine needs, so that reads cause no 503. */
const READS_WAIT_MS = '30000';

/**
 * Sends `--count` fuzzed requests to every operation of the admin API and every route of the portal. The
 * callers have each role, a single scope, one of two merchants, or no credentials. Some requests are broken
 * HTTP. `--seed` determines everything except values from recent responses.
 */
export const adminFuzz: Suite = async (options) => {
  const { count, verdict, say } = options;
  const seed = chooseSeed(options);
  await Shared.run(async (shared) => {
    const service = await shared.service('service', { READ_YOUR_WRITES_MS: READS_WAIT_MS });
    const isLong = count >= LONG_RUN;
    const world = await createAdminWorld(service, await shared.treasury(), isLong ? PEOPLE : 2);
    const oracle = new Oracle(await ContractChecker.of(service.baseUrl));
    world.merchants.forEach((each) => oracle.know(each));
    const since = await headOf(shared.pool);
    const fuzzer = new Fuzzer(seed, {
      ports: { admin: service.adminPort, portal: service.portalPort },
      requests: scopedRequests(world),
      broken: { of: harmlessRequests(world), percent: 3 },
      complete: (request) => oracle.complete(request as ScopedRequest),
      evaluate: (request, response) => oracle.evaluate(request as ScopedRequest, response),
    });
    let isDone = false;
    const keeping = keepUp(world, service.widgetUrl, oracle, () => isDone);
    await runFuzzer(fuzzer, service, options);
    isDone = true;
    say(`kept  ${await keeping}`);
    const facts = await checkRefusals(
      shared.pool,
      since,
      oracle,
      verdict,
      fuzzer.cutOff + oracle.unavailable,
    );
    say(`operations ${facts.operations}, executed ${facts.executed}`);
    const unserved = world.endpoints
      .map(({ method, path }) => `${method} ${path}`)
      .filter((route) => oracle.statuses.of(`${route} 2xx`) === 0);
    say(`never successful ${unserved.join(', ') || 'none'}`);
    verdict.expect(!isLong || unserved.length < world.endpoints.length / 10, 'most routes succeed', unserved);
    say(`audit ${await checkBooks(shared, verdict)}`);
    verdict.equal(await service.stop(), 'exit code 0', 'SIGTERM ends it');
  });
};

/** Adds subjects to each merchant and reverts changes of the fuzzer. Counts successes and failures. */
async function keepUp(
  { keepers, merchants }: AdminWorld,
  widgetUrl: string,
  oracle: Oracle,
  isEnough: () => boolean,
): Promise<string> {
  let [done, failed] = [0, 0];
  while (!isEnough()) {
    await sleep(KEEP_MS);
    for (const merchant of merchants) {
      try {
        await keep(keepers, merchant);
        await fill(merchant, 1);
        await addUnderReview(merchant, widgetUrl);
        await addVictims(keepers.first, merchant);
        done += 1;
      } catch {
        // The fuzzer has changed the merchant concurrently.
        failed += 1;
      }
      oracle.know(merchant);
    }
  }
  return `${done} times, ${failed} times in vain`;
}
