import { describe } from '@jest/globals';
import { canBrowse } from '../../support/http/browser.js';
import { onConsoleWorld } from '../../support/pages/console-world.js';
import { describeIdleEnd, describeLogin, describeKeyboard } from './console-login.tests.js';
import { describeSecondPerson, describeTwoPeople } from './console-second-person.tests.js';
import { describeSymptoms } from './console-symptoms.tests.js';

/** People's actions at the console (admin-api.md 5), with one service and one browser. */
(canBrowse() ? describe : describe.skip)('the page of the console', () => {
  const world = onConsoleWorld();
  describeLogin(world);
  describeIdleEnd(world);
  describeSymptoms(world);
  describeSecondPerson(world);
  describeTwoPeople(world);
  describeKeyboard(world);
});
