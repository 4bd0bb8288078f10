import { expect, test } from '@jest/globals';
import { reorganisations } from '../chaos/suites/reorganisations.js';
import { skewedClock } from '../chaos/suites/skewed-clock.js';
import type { Suite, SuiteOptions } from '../chaos/support/suite.js';
import { Verdict } from '../chaos/support/verdict.js';

/** The suites of the chain at their smallest, some at a time: most of it is waiting; `npm run chaos` runs them at length. */
async function hold(suite: Suite, count: number, sizes: SuiteOptions['sizes'] = {}): Promise<void> {
  const verdict = new Verdict();
  await suite({ count, verdict, say: () => undefined, sizes });
  expect(verdict.broken).toEqual([]);
  expect(verdict.facts).toBeGreaterThan(5);
}

const PATIENCE_MS = 300_000;

test.concurrent(
  'a worker with a wrong clock ends no payout wrongly',
  () => hold(skewedClock, 2),
  PATIENCE_MS,
);

test.concurrent(
  'reorganisations leave books and chain in agreement',
  () => hold(reorganisations, 20),
  PATIENCE_MS,
);
