import { test } from '@jest/globals';
import { reorganisations } from '../chaos/suites/reorganisations.js';
import { skewedClock } from '../chaos/suites/skewed-clock.js';
import { hold, HOLD_MS } from '../chaos/support/hold.js';

test.concurrent('a worker with a wrong clock ends no payout wrongly', () => hold(skewedClock, 2), HOLD_MS);

test.concurrent(
  'reorganisations leave books and chain in agreement',
  () => hold(reorganisations, 20),
  HOLD_MS,
);
