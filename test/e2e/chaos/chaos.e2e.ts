import { test } from '@jest/globals';
import { deliveries } from '../../chaos/suites/deliveries.js';
import { events } from '../../chaos/suites/events.js';
import { failpoints } from '../../chaos/suites/failpoints.js';
import { fuzz } from '../../chaos/suites/fuzz.js';
import { sigterm } from '../../chaos/suites/sigterm.js';
import { hold, HOLD_MS } from '../../chaos/support/hold.js';

test.concurrent(
  'killed at any point of a report and retried under its key, there is one payout',
  () => hold(failpoints, 1),
  HOLD_MS,
);

test.concurrent('SIGTERM under load cuts no accepted request off', () => hold(sigterm, 1), HOLD_MS);

test.concurrent(
  'workers are killed while they deliver, and everything emitted arrives',
  () => hold(deliveries, 2, { deliveries: 500, endpoints: 20 }),
  HOLD_MS,
);

test.concurrent(
  'killed between 202 and processing, every accepted event is stored once and forwarded',
  () => hold(events, 1),
  HOLD_MS,
);

test.concurrent(
  'fuzzed requests and broken HTTP get responses as the contract says, and delay no other merchant',
  () => hold(fuzz, 300, { seed: 1 }),
  HOLD_MS,
);
