import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ContractChecker } from '../../support/http/openapi.js';
import { checkBooks, headOf } from '../support/books.js';
import { checkRefusals } from '../support/fuzz/admin/facts.js';
import { Oracle } from '../support/fuzz/admin/oracle.js';
import { fill } from '../support/fuzz/admin/merchants.js';
import { harmlessRequests, scopedRequests, type ScopedRequest } from '../support/fuzz/admin/requests.js';
import { addUnderReview, addVictims } from '../support/fuzz/admin/subjects.js';
import { createAdminWorld, keep, type AdminWorld } from '../support/fuzz/admin/world.js';
import { Fuzzer } from '../support/fuzz/fuzzer.js';
import { runFuzzer } from '../support/fuzz/run-fuzzer.js';
import { Shared } from '../support/shared.js';
import type { Suite } from '../support/suite.js';

/** The number of operators. Each credential has 600 requests a minute, and a long run needs many. */
const PEOPLE = 4;
const LONG_RUN = 20_000;
const KEEP_MS = 3000;
/** Long enough that a busy machine causes no 503 on reads. */
const READS_WAIT_MS = '30000';

/**
 * Sends `--count` fuzzed requests to every operation of the admin API and every route of the portal. The callers have
 * each role, a single scope, one of two merchants, or no credentials; some requests are broken HTTP. `--seed`
 * determines everything except values from recent responses.
 */
export const adminFuzz: Suite = async (options) => {
  const { count, verdict, say, sizes = {} } = options;
  const seed = sizes.seed ?? randomInt(1, 2 ** 31);
  say(`seed  ${seed}`);
  const shared = await Shared.start();
  try {
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
  } finally {
    await shared.close();
  }
};

/** Gives each merchant new subjects and reverts changes of the fuzzer. Returns how often this succeeded and failed. */
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
        // The fuzzer changed the merchant at the same time.
        failed += 1;
      }
      oracle.know(merchant);
    }
  }
  return `${done} times, ${failed} times in vain`;
}
