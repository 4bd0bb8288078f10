import { expect } from '@jest/globals';
import type { Suite, SuiteOptions } from './suite.js';
import { Verdict } from './verdict.js';

/** Runs a suite of `npm run chaos` at a small size, as part of `npm test`. Broken facts come with what it printed. */
export async function hold(suite: Suite, count: number, sizes: SuiteOptions['sizes'] = {}): Promise<void> {
  const verdict = new Verdict();
  const lines: string[] = [];
  await suite({ count, verdict, say: (line) => lines.push(line), sizes });
  const { broken } = verdict;
  expect({ broken, lines: broken.length > 0 ? lines : [] }).toEqual({ broken: [], lines: [] });
  expect(verdict.facts).toBeGreaterThanOrEqual(5);
}

/** Longer than suites wait for their facts, so that they say what is missing. */
export const HOLD_MS = 600_000;
