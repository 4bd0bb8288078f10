import { CommandBus } from '@nestjs/cqrs';
import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { UpdateMerchant } from '../../../src/contexts/access/merchants/merchants.commands.js';
import type { Embedding } from '../../../src/contexts/access/merchants/merchant.js';
import { eventually } from '../../support/eventually.js';
import type { OnboardingPages } from '../../support/onboarding/page-harness.js';
import { framersOf, type Visitor } from '../../support/onboarding/widget-harness.js';

const SHOP = 'https://shop.example';

/** Tests of `onboarding-page.extended.e2e.ts`. */
export function describeFramed(pages: OnboardingPages): void {
  describe('in the frame of a shop', () => {
    const embed = async (change: Partial<Embedding>, user: Visitor, framers?: string): Promise<void> => {
      const { app, merchant } = pages.app;
      await app
        .get(CommandBus)
        .execute(new UpdateMerchant(merchant.credentials.apiKey, { embedding: change }));
      const expected = framers && `frame-ancestors ${framers}`;
      await eventually(async () => framersOf(await user.page({ method: 'HEAD' })) === expected);
    };
    const messagesTo = (page: Page) => page.evaluate<{ origin: string; data: object }[]>('heard');

    it('notifies the shop of each step without navigating the frame', async () => {
      const query = { callback_url: `${SHOP}/done` };
      const { page, user, origin, address, enter } = await pages.openFramed('es', { query });
      await embed({ origins: [origin, SHOP] }, user, `${origin} ${SHOP}`);
      await page.clock.install();
      const person = await enter();
      await person.confirmPhone();
      await person.enterDetails();
      await person.showPassport();
      await person.heading('doneHeading');
      await person.text('doneEmbedded').waitFor();
      await person.check('onboarding-13-done-framed');
      expect(await person.page.getByRole('link').count()).toBe(0);
      const messages = await messagesTo(page);
      expect(new Set(messages.map((each) => each.origin))).toEqual(new Set([pages.url]));
      const message = { type: 'disburse.onboarding', version: 1, user_id: user.userId };
      const steps = messages.map(({ data }) => (data as { step: string }).step);
      // The other steps may be too short to be observed.
      const certain = ['phone', 'code', 'details', 'documents', 'review', 'setup', 'done'];
      expect(certain.filter((step) => steps.includes(step))).toEqual(steps);
      expect(steps).toEqual(expect.arrayContaining(['phone', 'code', 'details', 'documents', 'done']));
      expect(messages.map(({ data }) => data)).toEqual(steps.map((step) => ({ ...message, step })));
      // Longer than a page in a tab needs to open its callback_url.
      await page.clock.fastForward(3500);
      await person.heading('doneHeading');
      expect([page.url(), person.page.url()]).toEqual([`${origin}/`, address]);
      await embed({ origins: [] }, user);
    });

    it('offers only the upload of files if the frame does not allow the camera', async () => {
      const person = await (await pages.openFramed('es', { allow: '' })).enter();
      await person.confirmPhone();
      await person.enterDetails();
      await person.choose('documentsPassport');
      await person.press('documentsBegin');
      await person.text('cameraNotDelegated').waitFor();
      expect(await person.button('captureCameraAgain').count()).toBe(0);
      await person.button('captureUploadOnly').waitFor();
    });

    it('is displayed only by listed sites and sends no messages to other sites', async () => {
      const { page, problems, user, origin } = await pages.openFramed('es');
      await embed({ origins: [SHOP] }, user, SHOP);
      await page.goto(origin);
      await eventually(() => problems.some((problem) => problem.includes(`frame-ancestors ${SHOP}`)));
      expect(await page.frameLocator('iframe').getByRole('heading').count()).toBe(0);
      expect(await messagesTo(page)).toEqual([]);
      problems.length = 0;
      await embed({ origins: [] }, user);
    });
  });
}
