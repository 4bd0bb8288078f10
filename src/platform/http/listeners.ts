import type { HttpConfig, ProcessConfig } from '../config/config.js';

type Texts<Kind extends string> = `refused${Kind}` | `refused${Kind}Text`;
/** The words of every page. A page without words for `Suspended` and `Closing` displays those for `Link`. */
type PageMessages = Readonly<
  Record<'loading' | 'noScript' | Texts<'Link' | 'TooOften' | 'Trouble'>, string> &
    Partial<Record<Texts<'Suspended' | 'Closing'>, string>>
>;

/**
 * A page for people, with its own listener (its own origin). A context declares it once and serves it with
 * `PageController`s (docs/adr/0172).
 */
export interface Page {
  /** The folder of the page in widgets/. */
  readonly name: string;
  /** The path of the page. Its built files are at `<path>/assets/<file>`. */
  readonly path: string;
  /** Processes with this role serve it. */
  readonly role: Exclude<ProcessConfig['roles'][number], 'api' | 'worker'>;
  readonly port: (config: HttpConfig) => number;
  readonly messages: Readonly<Record<'en' | 'es' | 'de', PageMessages>>;
  /** The CSP directives of resources besides scripts and styles. */
  readonly media: string;
  /** The time in which a browser must send a request. */
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
