import { randomInt } from 'node:crypto';
import { TestReceiver } from '../../support/webhooks/receiver.js';
import { Life } from '../support/ordinary-life/life.js';
import { LifeHarness } from '../support/ordinary-life/life-harness.js';
import { Random } from '../support/random.js';
import { Shared } from '../support/shared.js';
import { chooseSeed, concurrently, seconds, type Suite } from '../support/suite.js';

const RUNS_A_BATCH = 125;
const RUNS_AT_ONCE = 10;
/** The error statuses of receivers, among 204s. */
const REFUSALS = [410, 503, 500];
const RESPONSES = 60;

/**
 * Plays `--count` random runs of the daily work of people, merchants and operators, on a chain with small
 * reorganisations. `audit -- verify` runs during each batch. Afterwards it finds everything in order and
 * proven.
 */
export const ordinaryLife: Suite = async (options) => {
  const { count, verdict, say } = options;
  const seed = chooseSeed(options);
  await Shared.run(async (shared) => {
    const receiver = await shared.ends.start(TestReceiver.start());
    receiver.behavior = (response) => response.writeHead(REFUSALS[randomInt(RESPONSES)] ?? 204).end();
    const harness = await LifeHarness.start(shared, verdict);
    const life = new Life(harness, receiver.url);
    for (let done = 0, batch = 0; done < count; batch += 1) {
      const began = performance.now();
      const end = Math.min(done + RUNS_A_BATCH, count);
      const during = harness.audited(`during runs up to ${end}`);
      await concurrently(end - done, RUNS_AT_ONCE, async () => {
        const number = done++;
        const failed = (error: Error): void => verdict.expect(false, `run ${number}`, error.stack);
        await life.run(new Random(seed, number), number).catch(failed);
      });
      const ran = performance.now();
      await during;
      await harness.maintain(batch);
      await harness.settled();
      const settled = performance.now();
      await harness.audited(`after ${end} runs`, '--key', harness.keyFile);
      const times = [ran - began, settled - ran, performance.now() - settled].map(seconds).join(', ');
      say(`${end} runs; runs, upkeep, verify: ${times}`);
    }
    say(harness.tally.toString());
  });
};
