import { expect, test } from '@jest/globals';
import { failpoints } from '../chaos/suites/failpoints.js';
import { races } from '../chaos/suites/races.js';
import { repeats } from '../chaos/suites/repeats.js';
import { sigterm } from '../chaos/suites/sigterm.js';
import type { Suite } from '../chaos/support/suite.js';
import { Verdict } from '../chaos/support/verdict.js';

/** The suites of docs/chaos.md at their smallest; `npm run chaos` runs them at length. */
async function hold(suite: Suite, count: number): Promise<void> {
  const verdict = new Verdict();
  await suite({ count, verdict, say: () => undefined });
  expect(verdict.broken).toEqual([]);
  expect(verdict.facts).toBeGreaterThan(5);
}

const PATIENCE_MS = 90_000;

test('200 repeats under one key, to two processes, write one payout', () => hold(repeats, 1), PATIENCE_MS);

test(
  'killed at any point of a report and retried under its key, there is one payout',
  () => hold(failpoints, 1),
  PATIENCE_MS,
);

test('SIGTERM under load cuts no accepted request off', () => hold(sigterm, 1), PATIENCE_MS);

test(
  'two processes give each payout one outcome, and each transfer one payout',
  () => hold(races, 1),
  PATIENCE_MS,
);
