import { setTimeout as sleep } from 'node:timers/promises';
import { expectEqual } from '../harness/row.js';
import { timed } from '../harness/measure.js';
import { lastWords } from './children.js';
import type { BenchEnvironment } from './environment.js';
import { peakMiB } from './memory.js';

interface Ended {
  readonly printed: string;
  readonly peakMiB: number;
  readonly seconds: number;
}

/** Runs an operator's program of the build. Throws unless it ends with `end`. */
export async function runProgram(
  environment: BenchEnvironment,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  end = 'exit code 0',
): Promise<Ended> {
  const name = args.slice(0, 2).join('-');
  const dir = environment.folder('programs');
  const child = environment.children.start({ name, args: ['dist/cli.js', ...args], env, dir });
  let peak = 0;
  const seconds = await timed(async () => {
    for (; child.exited() === null; await sleep(20)) peak = Math.max(peak, peakMiB(child.pid));
  });
  const words = lastWords(child.log);
  expectEqual(`${name} ends with, after\n${words}\n`, child.exited(), end);
  return { printed: words.trimEnd().split('\n').at(-1) ?? '', peakMiB: peak, seconds };
}
