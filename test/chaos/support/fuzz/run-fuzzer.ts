import { setTimeout as sleep } from 'node:timers/promises';
import { residentMiB } from '../../../../bench/support/memory.js';
import type { ServiceProcess } from '../../../../bench/support/service.js';
import { seconds, type SuiteOptions } from '../suite.js';
import type { Fuzzer } from './fuzzer.js';

const AT_ONCE = 48;
/** The share of requests after which memory counts, once the service has compiled and cached everything. */
const WARM_SHARE = 0.2;
const MAX_GROWTH_MIB = 256;
/** The share of requests that may lose their connection to a timeout or an early response. */
const MAX_CUT_OFF = 0.002;

/** Sends `--count` requests, or the one of `--only`, AT_ONCE at a time, and checks their effects. */
export async function runFuzzer(
  fuzzer: Fuzzer,
  service: ServiceProcess,
  { count, say, verdict, sizes = {} }: SuiteOptions,
): Promise<void> {
  const [first, last] = sizes.only === undefined ? [1, count] : [sizes.only, sizes.only];
  const began = performance.now();
  let next = first;
  let running = true;
  let said = 0;
  const memory = { warm: 0, max: 0 };
  const worker = async (): Promise<void> => {
    while (next <= last && !fuzzer.gaveUp && service.runs) await fuzzer.send(next++);
  };
  const watch = async (): Promise<void> => {
    for (let second = 1; running && service.runs; second += 1) {
      const now = residentMiB(service.pid);
      if (next - first < (last - first) * WARM_SHARE) memory.warm = Math.max(memory.warm, now);
      memory.max = Math.max(memory.max, now);
      for (; said < fuzzer.faults.length; said += 1) say(`  FAULT  ${fuzzer.faults[said]!}`);
      if (second % 30 === 0) say(`      ${next - 1} sent, ${now} MiB, ${fuzzer.faults.length} faults`);
      await sleep(1000);
    }
  };
  const watching = watch();
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  running = false;
  await watching;
  const took = performance.now() - began;
  await fuzzer.close();
  const { cutOff, faults, tally } = fuzzer;
  const [sent, growth] = [last - first + 1, memory.max - memory.warm];
  say(`sent  ${sent} in ${seconds(took)}, ${Math.round(sent / (took / 1000))} a second; ${tally.toString()}`);
  say(`memory ${memory.warm} MiB when warm, ${memory.max} MiB at most`);
  for (const fault of faults) verdict.expect(false, fault);
  verdict.expect(cutOff <= count * MAX_CUT_OFF, 'valid HTTP gets a response', `${cutOff} cut off`);
  verdict.equal(faults.length, 0, 'no response is wrong, says too much, or is missing');
  verdict.expect(growth <= MAX_GROWTH_MIB, `memory grows by less than ${MAX_GROWTH_MIB} MiB`, growth);
  verdict.expect(service.runs, 'the process lives', service.lastWords());
}
