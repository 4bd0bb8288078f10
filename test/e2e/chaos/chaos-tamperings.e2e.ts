import { test } from '@jest/globals';
import { tamperings } from '../../chaos/suites/tamperings.js';
import { hold, HOLD_MS } from '../../chaos/support/hold.js';

test(
  'what a writer without the master key forges is not signed and not delivered, and is named',
  () => hold(tamperings, 12),
  HOLD_MS,
);
