import { describe } from '@jest/globals';
import { canBrowse } from '../../support/http/browser.js';
import { onConsoleWorld } from '../../support/pages/console-world.js';
import { describeLists, describeNavigation } from './console-navigation.tests.js';

/** What each page displays; `console-page.extended.e2e.ts` has what people do there. */
(canBrowse() ? describe : describe.skip)('the pages of the console', () => {
  const world = onConsoleWorld();
  describeNavigation(world);
  describeLists(world);
});
