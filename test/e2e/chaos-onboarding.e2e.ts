import { expect, test } from '@jest/globals';
import { onboarding } from '../chaos/suites/onboarding.js';
import { Verdict } from '../chaos/support/verdict.js';

/** The suite of onboardings at its smallest; `npm run chaos -- onboarding` runs it at length. */
test('killed at points of their way, people end active with one wallet, one card and one completion', async () => {
  const verdict = new Verdict();
  const lines: string[] = [];
  await onboarding({
    ...{ count: 3, verdict, sizes: { seconds: 2, 'lease-ms': 100 } },
    say: (line) => lines.push(line),
  });
  expect({ broken: verdict.broken, lines: verdict.broken.length > 0 ? lines : [] }).toEqual({
    broken: [],
    lines: [],
  });
  expect(verdict.facts).toBeGreaterThan(10);
}, 300_000);
