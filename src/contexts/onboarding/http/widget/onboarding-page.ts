import type { Page } from '../../../../platform/http/pages/page.js';
import { WORDS } from '../../words/words.js';

/** The onboarding widget, `{widget_url}/onboarding` (contract.md 18). */
export const ONBOARDING_PAGE: Page = {
  name: 'onboarding',
  path: '/onboarding',
  port: ({ widgetPort }) => widgetPort,
  words: WORDS,
  // The camera and images that are not sent yet are displayed as blobs.
  media: "img-src 'self' data: blob:; media-src blob:",
  // A photo takes its time from a phone with a bad connection.
  requestTimeoutMs: 60_000,
};
