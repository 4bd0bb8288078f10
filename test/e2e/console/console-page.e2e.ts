import { describeInBrowser } from '../../support/http/browser.js';
import { onConsoleWorld } from '../../support/pages/console-world.js';
import { describeKeyboard } from './console-keyboard.tests.js';
import { describeLogin } from './console-login.tests.js';
import { describeNavigation } from './console-navigation.tests.js';
import { describeSecondPerson } from './console-second-person.tests.js';
import { describeSymptoms } from './console-symptoms.tests.js';

/** One service and one browser for all of it (admin-api.md 5). */
describeInBrowser('the page of the console', () => {
  const world = onConsoleWorld();
  describeLogin(world);
  describeNavigation(world);
  describeSymptoms(world);
  describeSecondPerson(world);
  describeKeyboard(world);
});
