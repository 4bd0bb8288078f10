import { describe } from '@jest/globals';
import { canBrowse } from '../../support/http/browser.js';
import { onConsoleWorld } from '../../support/pages/console-world.js';
import { describeLists, describeNavigation } from './console-navigation.tests.js';

/** The contents of each page. `console-page.extended.e2e.ts` tests people's actions there. */
(canBrowse() ? describe : describe.skip)('the pages of the console', () => {
  const world = onConsoleWorld();
  describeNavigation(world);
  describeLists(world);
});
