import { test } from '@jest/globals';
import { onboarding } from '../../chaos/suites/onboarding.js';
import { hold, HOLD_MS } from '../../chaos/support/hold.js';

test(
  'after two kills people end active with one wallet, one card and one completion',
  () => hold(onboarding, 2, { seconds: 2, 'lease-ms': 100 }),
  HOLD_MS,
);
