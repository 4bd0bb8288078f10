import { setTimeout as sleep } from 'node:timers/promises';
import { residentMiB } from '../../../../bench/support/memory.js';
import type { ServiceProcess } from '../service-process.js';
import type { SuiteOptions } from '../suite.js';
import type { Fuzzer } from './fuzzer.js';

const AT_ONCE = 48;
/** From then on memory is counted: by then the service has compiled and cached what it will need. */
const WARM_SHARE = 0.2;

/** Sends the requests from one number to another, {@link AT_ONCE} at a time. Resident memory in MiB. */
export async function runFuzzer(
  fuzzer: Fuzzer,
  service: ServiceProcess,
  [first, last]: readonly [number, number],
  { say, verdict }: SuiteOptions,
): Promise<{ warm: number; max: number }> {
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
  if (!service.runs) verdict.expect(false, 'the process lives', service.lastWords());
  return memory;
}
