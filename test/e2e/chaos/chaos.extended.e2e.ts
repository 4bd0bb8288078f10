import { expect, test } from '@jest/globals';
import { adminFuzz } from '../../chaos/suites/admin-fuzz.js';
import { failpoints } from '../../chaos/suites/failpoints.js';
import { fuzz } from '../../chaos/suites/fuzz.js';
import { onboarding } from '../../chaos/suites/onboarding.js';
import { operations } from '../../chaos/suites/operations.js';
import { orderRaces } from '../../chaos/suites/order-races.js';
import { orders } from '../../chaos/suites/orders.js';
import { ordinaryLife } from '../../chaos/suites/ordinary-life.js';
import { reorganisations } from '../../chaos/suites/reorganisations.js';
import { tamperings } from '../../chaos/suites/tamperings.js';
import type { Suite, SuiteOptions } from '../../chaos/support/suite.js';
import { Verdict } from '../../chaos/support/verdict.js';

/** Longer than suites wait for their facts, so that failures name the missing fact. */
const HOLD_MS = 600_000;

/** Suites of `npm test` cover the other chaos suites (docs/chaos.md). */
const SMALL: readonly (readonly [
  title: string,
  suite: Suite,
  count: number,
  sizes?: SuiteOptions['sizes'],
])[] = [
  [
    'after kills at two failpoints no order is lost, doubled or stuck, and each deposit is credited once',
    orders,
    2,
    { seconds: 3, 'lease-ms': 100 },
  ],
  [
    'people who onboard during two kills become active with one wallet, one card and one completion',
    onboarding,
    2,
    { seconds: 2, 'lease-ms': 100 },
  ],
  [
    'forgeries written to the database without the master key are reported, never signed or delivered',
    tamperings,
    12,
  ],
  ['an audit finds no fault after four runs of everyday work', ordinaryLife, 4],
  ['after 20 reorganisations balances and chain agree', reorganisations, 20, { seconds: 8 }],
  ['a report whose process is killed at any failpoint leaves one payout after a retry', failpoints, 1],
  [
    '25 interleavings of actions and deposits at two processes leave one history per order and account for all money',
    orderRaces,
    25,
  ],
  [
    'in 500 interleavings no operation is executed twice, without a second person or at another revision',
    operations,
    500,
  ],
  [
    'fuzzed requests and broken HTTP get responses as the contract says, and delay no other merchant',
    fuzz,
    300,
    { seed: 1 },
  ],
  [
    'fuzzed requests to the admin API and the portal return no more than their callers may read, and change nothing if refused',
    adminFuzz,
    3000,
    { seed: 1 },
  ],
];

test.concurrent.each(SMALL)(
  '%s',
  async (_title, suite, count, sizes = {}) => {
    const verdict = new Verdict();
    const lines: string[] = [];
    await suite({ count, verdict, say: (line) => lines.push(line), sizes });
    const { broken } = verdict;
    expect({ broken, lines: broken.length > 0 ? lines : [] }).toEqual({ broken: [], lines: [] });
    expect(verdict.facts).toBeGreaterThanOrEqual(suite === ordinaryLife ? 2 : 5);
  },
  HOLD_MS,
);
