import type { HttpConfig, ProcessConfig } from '../config/config.js';

type Texts<Kind extends string> = `refused${Kind}` | `refused${Kind}Text`;
/** The texts of a page. A page without texts for `Suspended` or `Closing` displays the texts for `Link`. */
type PageMessages = Readonly<
  Record<'loading' | 'noScript' | Texts<'Link' | 'TooOften' | 'Trouble'>, string> &
    Partial<Record<Texts<'Suspended' | 'Closing'>, string>>
>;

/** A page for people, with its own listener and origin (ADR 172). `PageController`s serve it. */
export interface Page {
  /** The folder in widgets/. */
  readonly name: string;
  /** The URL path; built files are at `<path>/assets/<file>`. */
  readonly path: string;
  readonly role: Exclude<ProcessConfig['roles'][number], 'api' | 'worker'>;
  readonly port: (config: HttpConfig) => number;
  readonly messages: Readonly<Record<'en' | 'es' | 'de', PageMessages>>;
  /** The CSP directives for resources other than scripts and styles. */
  readonly media: string;
  readonly requestTimeoutMs: number;
}

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
const ENGLISH: Page['messages'] = { en: MESSAGES, es: MESSAGES, de: MESSAGES };

/** The page of the admin API and the console, at `{admin_url}` (admin-api.md 1). */
export const CONSOLE_PAGE: Page = {
  name: 'console',
  path: '/console',
  role: 'admin',
  port: ({ adminPort }) => adminPort,
  messages: ENGLISH,
  media: "img-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'",
  requestTimeoutMs: 15_000,
};

/** The page of the portal for merchants, at `{portal_url}` (admin-api.md 6). */
export const PORTAL_PAGE: Page = {
  ...CONSOLE_PAGE,
  name: 'portal',
  path: '/portal',
  role: 'portal',
  port: ({ portalPort }) => portalPort,
};
