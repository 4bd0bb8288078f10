import type { Page } from '../../../../platform/http/pages/page.js';
import { WORDS } from '../../words/words.js';

/** The pay widget, `{pay_url}/widget` (contract.md 26). */
export const PAY_PAGE: Page = {
  name: 'pay',
  path: '/widget',
  port: ({ payPort }) => payPort,
  words: WORDS,
  media: "img-src 'self' data:",
  requestTimeoutMs: 15_000,
};
