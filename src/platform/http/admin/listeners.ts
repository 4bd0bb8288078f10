import type { PageMessages } from '../pages/document.js';
import type { Locale } from '../pages/locale.js';
import type { Page } from '../pages/page.js';

const MESSAGES: PageMessages = {
  loading: 'Loading…',
  noScript: 'This page needs JavaScript.',
  refusedLink: 'Not available',
  refusedLinkText: 'This page is not available.',
  refusedTooOften: 'Too many requests',
  refusedTooOftenText: 'Wait a minute and try again.',
  refusedTrouble: 'Something went wrong',
  refusedTroubleText: 'Try again. If it keeps failing, contact support with the time of this message.',
};
const ENGLISH: Readonly<Record<Locale, PageMessages>> = { en: MESSAGES, es: MESSAGES, de: MESSAGES };

/** The admin API and the console, `{admin_url}` (admin-api.md 1). */
export const CONSOLE_PAGE: Page = {
  name: 'console',
  path: '/console',
  role: 'admin',
  port: ({ adminPort }) => adminPort,
  messages: ENGLISH,
  media: "img-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'",
  requestTimeoutMs: 15_000,
};

/** The portal of merchants, `{portal_url}` (admin-api.md 6). */
export const PORTAL_PAGE: Page = {
  ...CONSOLE_PAGE,
  name: 'portal',
  path: '/portal',
  role: 'portal',
  port: ({ portalPort }) => portalPort,
};
