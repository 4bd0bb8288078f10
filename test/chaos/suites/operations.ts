import { randomInt } from 'node:crypto';
import { playOperations } from '../support/operations/interleaving.js';
import { Random } from '../support/random.js';
import { seconds, type Suite } from '../support/suite.js';

const AT_ONCE = 50;

/**
 * Plays `--count` generated interleavings of two operators at two processes, some of which are killed, on one subject
 * that changes meanwhile. `--seed` determines everything except the order of concurrent calls.
 */
export const operations: Suite = async ({ count, verdict, say, sizes = {} }) => {
  const seed = sizes.seed ?? randomInt(1, 2 ** 31);
  say(`seed   ${seed}`);
  const began = performance.now();
  const broken: (readonly [number, string])[] = [];
  let [executed, failed, kills] = [0, 0, 0];
  let next = 1;
  const worker = async (): Promise<void> => {
    while (next <= count) {
      const number = next++;
      const played = await playOperations(new Random(seed, number));
      broken.push(...played.broken.map((what) => [number, what] as const));
      executed += played.executed;
      failed += played.failed;
      kills += played.kills;
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, count) }, worker));
  say(
    `played ${count} interleavings in ${seconds(performance.now() - began)}: ${executed} executed, ${failed} failed, ${kills} processes with a kill ahead`,
  );
  verdict.none(
    broken,
    'an operation is executed twice, without its second person, at another revision, or otherwise than it says',
  );
  verdict.expect(next > count, 'every interleaving is played');
  verdict.expect(executed > 0, 'operations are executed');
  verdict.expect(failed > 0 || count < AT_ONCE, 'some operations fail');
  verdict.expect(kills > 0 || count < AT_ONCE, 'some processes are killed');
};
