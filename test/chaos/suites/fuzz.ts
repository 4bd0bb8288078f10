import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { checkBooks } from '../support/books.js';
import { Fuzzer } from '../support/fuzz/fuzzer.js';
import { apiRequest, widgetRequest } from '../support/fuzz/requests.js';
import { runFuzzer } from '../support/fuzz/run-fuzzer.js';
import { createWorld } from '../support/fuzz/world.js';
import { honestLoad } from '../support/honest-load.js';
import { createUser } from '../support/payouts.js';
import { Shared } from '../support/shared.js';
import { percentile, type Suite } from '../support/suite.js';

/** The bound of a response to another merchant, also on a busy machine. */
const MAX_HONEST_MS = 30_000;

/**
 * Sends `--count` fuzzed requests to every operation of the service's document, to unknown paths and to the widget:
 * signed ones with hostile contents, and broken HTTP. `--seed` determines all of it; `--only N` sends the Nth alone.
 */
export const fuzz: Suite = async (options) => {
  const { verdict, say, sizes = {} } = options;
  const seed = sizes.seed ?? randomInt(1, 2 ** 31);
  say(`seed  ${seed}`);
  const shared = await Shared.start();
  try {
    const service = await shared.service('service');
    const { baseUrl, merchant: hostile, secondMerchant: merchant, port, widgetPort: widget } = service;
    const world = await createWorld(baseUrl, hostile);
    const requests = fc.oneof(
      { weight: 71, arbitrary: apiRequest(world) },
      { weight: 11, arbitrary: widgetRequest(world) },
    );
    const broken = { of: requests, percent: 18 };
    const fuzzer = new Fuzzer(seed, { ports: { api: port, widget }, requests, broken });
    const target = { port, merchant, userId: await createUser(baseUrl, merchant) };
    let isDone = false;
    const honest = honestLoad(target, verdict, () => isDone);
    await runFuzzer(fuzzer, service, options);
    isDone = true;
    const { tookMs, refused, tally } = await honest;
    say(`honest ${tally.toString()}, p99 ${percentile(tookMs, 0.99).toFixed(0)} ms`);
    verdict.none(refused, 'an honest request did not get 200 or 201');
    verdict.expect(
      Math.max(...tookMs) < MAX_HONEST_MS,
      `an honest request waits less than ${MAX_HONEST_MS} ms`,
    );
    say(`audit ${await checkBooks(shared, verdict)}`);
    verdict.equal(await service.stop(), 'exit code 0', 'SIGTERM ends it');
  } finally {
    await shared.close();
  }
};
