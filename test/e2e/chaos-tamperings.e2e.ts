import { expect, it } from '@jest/globals';
import { tamperings } from '../chaos/suites/tamperings.js';
import { Verdict } from '../chaos/support/verdict.js';

const COUNT = 25;

it('what a writer without the master key forges is not signed, not announced, and named', async () => {
  const verdict = new Verdict();
  const lines: string[] = [];
  await tamperings({ count: COUNT, verdict, say: (line) => lines.push(line) });
  expect({ broken: verdict.broken, lines: verdict.broken.length > 0 ? lines : [] }).toEqual({
    broken: [],
    lines: [],
  });
  expect(verdict.facts).toBeGreaterThan(COUNT);
}, 300_000);
