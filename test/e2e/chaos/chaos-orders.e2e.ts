import { test } from '@jest/globals';
import { orderRaces } from '../../chaos/suites/order-races.js';
import { orders } from '../../chaos/suites/orders.js';
import { hold, HOLD_MS } from '../../chaos/support/hold.js';

test.concurrent(
  '25 interleavings of actions and deposits at two processes leave each order one history, and its money is accounted for',
  () => hold(orderRaces, 25),
  HOLD_MS,
);

test.concurrent(
  'after kills at two failpoints no order is lost, doubled or stuck, and each deposit is credited once',
  () => hold(orders, 2, { seconds: 3, 'lease-ms': 100 }),
  HOLD_MS,
);
