import { CommandBus } from '@nestjs/cqrs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { DecideReview } from '../../../src/contexts/onboarding/application/operator-commands.js';
import { startService } from '../../../sandbox/service.js';
import { findChromium } from '../../support/http/browser.js';
import { eventually } from '../../support/eventually.js';
import { PageHarness, type Visit } from '../../support/onboarding/page-harness.js';

const suite = findChromium() === null ? describe.skip : describe;

suite('what comes after the photos, on the onboarding page', () => {
  let harness: PageHarness;
  beforeAll(async () => {
    harness = await PageHarness.start();
  });
  afterAll(() => harness?.close());
  afterEach(() => harness.leave());

  const submit = async ({ person }: Visit, lastName: string): Promise<void> => {
    await person.confirmPhone();
    await person.enterDetails(lastName);
    await person.showSamples();
  };

  it('an identity that is rejected says why, and may be tried again', async () => {
    const visit = await harness.open('de');
    const { person, page } = visit;
    await submit(visit, 'Rejected');
    await person.heading('failedHeading');
    await person.text('reasonSandboxIdentity').waitFor();
    await person.picturesOf('onboarding-11-failed');
    await page.reload();
    await person.heading('failedHeading');
    await person.press('failedRetry');
    await person.enterDetails('Lovelace');
    await person.showSamples();
    await person.heading('doneHeading');
    expect(await harness.stateOf(visit)).toBe('active');
  });

  it('a refused card has a reason, and is requested again', async () => {
    const visit = await harness.open('es');
    const { person, page } = visit;
    await submit(visit, 'Cardless');
    await person.heading('cardFailedHeading');
    await person.text('reasonSandboxCard').waitFor();
    await person.picturesOf('onboarding-12-card-failed');
    await page.reload();
    await person.press('cardFailedRetry');
    await person.heading('doneHeading');
    expect(await harness.stateOf(visit)).toBe('active');
  });

  // The last: it stops the service of this suite.
  it('a review lasts over reloads and a restart of the service, and the page continues once it passes', async () => {
    const visit = await harness.open('es');
    const { person, page } = visit;
    await submit(visit, 'Review');
    await person.heading('reviewHeading');
    await page.getByText(/Enviado el \d+ de \p{L}+ de \d{4}/u).waitFor();
    await person.picturesOf('onboarding-10-review');
    await page.reload();
    await person.heading('reviewHeading');
    const port = Number(new URL(page.url()).port);
    await harness.app.stop();
    await person.text('reviewLost').waitFor({ timeout: 60_000 });
    const service = await startService({ ...harness.app.config, widgetPort: port });
    try {
      await eventually(async () => (await person.text('reviewLost').count()) === 0);
      await person.heading('reviewHeading');
      await service.app.get(CommandBus).execute(new DecideReview(visit.user.id, { passed: true }));
      await page.getByRole('heading', { name: person.says('doneHeading') }).waitFor({ timeout: 90_000 });
    } finally {
      await service.close();
    }
    // Errors of the browser during the restart.
    visit.problems.length = 0;
  });
});
