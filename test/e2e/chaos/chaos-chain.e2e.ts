import { test } from '@jest/globals';
import { reorganisations } from '../../chaos/suites/reorganisations.js';
import { skewedClock } from '../../chaos/suites/skewed-clock.js';
import { hold, HOLD_MS } from '../../chaos/support/hold.js';

test.concurrent(
  'a worker whose clock is 25 hours wrong ends no payout wrongly',
  () => hold(skewedClock, 2),
  HOLD_MS,
);

test.concurrent('after 20 reorganisations books and chain agree', () => hold(reorganisations, 20), HOLD_MS);
