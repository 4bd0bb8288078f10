import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { residentMiB } from '../../../bench/support/memory.js';
import { checkBooks } from '../support/books.js';
import { Fuzzer } from '../support/fuzz/fuzzer.js';
import { createWorld } from '../support/fuzz/world.js';
import { honestLoad } from '../support/honest-load.js';
import { createUser } from '../support/payouts.js';
import type { ServiceProcess } from '../support/service-process.js';
import { Shared } from '../support/shared.js';
import { percentile, seconds, type Suite, type SuiteOptions } from '../support/suite.js';

const AT_ONCE = 48;
/** From then on memory is counted: by then the service has compiled and cached what it will need. */
const WARM_SHARE = 0.2;
const MAX_GROWTH_MIB = 256;
/** Of all requests, those that may lose their connection to a timeout or to an early response. */
const MAX_CUT_OFF = 0.002;
/** A response to another merchant meanwhile, however busy the machine is. */
const MAX_HONEST_MS = 30_000;

/**
 * `--count` fuzzed requests to every operation of the service's own document, to unknown paths and to the widget: signed
 * ones with hostile contents, and broken HTTP. All of it follows from `--seed`; `--only N` sends the Nth alone.
 */
export const fuzz: Suite = async (options) => {
  const { count, verdict, say, sizes = {} } = options;
  const seed = sizes.seed ?? randomInt(1, 2 ** 31);
  say(`seed  ${seed}`);
  const shared = await Shared.start();
  try {
    const service = await shared.service('service');
    const { baseUrl, merchant: hostile, secondMerchant: merchant, port, widgetPort: widget } = service;
    const fuzzer = new Fuzzer(seed, { api: port, widget }, await createWorld(baseUrl, hostile));
    const target = { port, merchant, userId: await createUser(baseUrl, merchant) };
    let isDone = false;
    const honest = honestLoad(target, verdict, () => isDone);
    const began = performance.now();
    const range = sizes.only === undefined ? ([1, count] as const) : ([sizes.only, sizes.only] as const);
    const memory = await run(fuzzer, service, range, options);
    const took = performance.now() - began;
    isDone = true;
    const { tookMs, refused, tally } = await honest;
    await fuzzer.close();
    say(`sent  ${count} in ${seconds(took)}; ${fuzzer.tally.toString()}`);
    say(`honest ${tally.toString()}, p99 ${percentile(tookMs, 0.99).toFixed(0)} ms`);
    say(`memory ${memory.warm} MiB when warm, ${memory.max} MiB at most`);
    verdict.none(refused, 'an honest request did not get 200 or 201');
    verdict.expect(
      Math.max(...tookMs) < MAX_HONEST_MS,
      `an honest request waits less than ${MAX_HONEST_MS} ms`,
    );
    for (const fault of fuzzer.faults) verdict.expect(false, fault);
    const { cutOff } = fuzzer;
    verdict.expect(cutOff <= count * MAX_CUT_OFF, 'valid HTTP gets a response', `${cutOff} cut off`);
    verdict.equal(fuzzer.faults.length, 0, 'no response is wrong and no request hangs');
    const growth = memory.max - memory.warm;
    verdict.expect(growth <= MAX_GROWTH_MIB, `memory grows by less than ${MAX_GROWTH_MIB} MiB`, growth);
    verdict.equal(service.exited(), null, 'the process lives');
    say(`audit ${await checkBooks(shared, verdict)}`);
    verdict.equal(await service.stop(), 'exit code 0', 'SIGTERM ends it');
  } finally {
    await shared.close();
  }
};

/** Sends the requests from one number to another, {@link AT_ONCE} at a time. Resident memory in MiB. */
async function run(
  fuzzer: Fuzzer,
  service: ServiceProcess,
  [first, last]: readonly [number, number],
  { say, verdict }: SuiteOptions,
): Promise<{ warm: number; max: number }> {
  let next = first;
  let running = true;
  const memory = { warm: 0, max: 0 };
  const worker = async (): Promise<void> => {
    while (next <= last && !fuzzer.gaveUp && service.runs) await fuzzer.send(next++);
  };
  const watch = async (): Promise<void> => {
    for (let second = 1; running && service.runs; second += 1) {
      const now = residentMiB(service.pid);
      if (next - first < (last - first) * WARM_SHARE) memory.warm = Math.max(memory.warm, now);
      memory.max = Math.max(memory.max, now);
      if (second % 30 === 0) say(`      ${next - 1} sent, ${now} MiB, ${fuzzer.faults.length} faults`);
      await sleep(1000);
    }
  };
  const watching = watch();
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  running = false;
  await watching;
  if (!service.runs) verdict.expect(false, 'the process lives', service.lastWords());
  return memory;
}
