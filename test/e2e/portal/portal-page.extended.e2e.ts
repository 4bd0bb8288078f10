import { describe } from '@jest/globals';
import { canBrowse } from '../../support/http/browser.js';
import { onPortalWorld } from '../../support/pages/portal-world.js';
import { describeEntering, describePages } from './portal-pages.tests.js';
import { describeWrites } from './portal-writes.tests.js';

/** One service and one browser for all tests (admin-api.md 6). */
(canBrowse() ? describe : describe.skip)('the page of the portal', () => {
  const world = onPortalWorld();
  describeEntering(world);
  describePages(world);
  describeWrites(world);
});
