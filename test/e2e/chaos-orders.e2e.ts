import { expect, test } from '@jest/globals';
import { orderRaces } from '../chaos/suites/order-races.js';
import { orders } from '../chaos/suites/orders.js';
import type { Suite, SuiteOptions } from '../chaos/support/suite.js';
import { Verdict } from '../chaos/support/verdict.js';

/** The suites of exchange orders at their smallest, at the same time; `npm run chaos` runs them at length. */
async function hold(suite: Suite, count: number, sizes: SuiteOptions['sizes'] = {}): Promise<void> {
  const verdict = new Verdict();
  const lines: string[] = [];
  await suite({ count, verdict, say: (line) => lines.push(line), sizes });
  expect({ broken: verdict.broken, lines: verdict.broken.length > 0 ? lines : [] }).toEqual({
    broken: [],
    lines: [],
  });
  expect(verdict.facts).toBeGreaterThan(10);
}

/** Longer than the suites themselves wait for orders to settle, so that they say what is missing. */
const PATIENCE_MS = 600_000;

test.concurrent(
  'whatever meets on an order at two processes, it has one history, and its money is accounted for',
  () => hold(orderRaces, 60),
  PATIENCE_MS,
);

test.concurrent(
  'killed at points of its way, no order is lost, doubled or stuck, and each deposit is credited once',
  () => hold(orders, 2, { seconds: 3, 'lease-ms': 100 }),
  PATIENCE_MS,
);
