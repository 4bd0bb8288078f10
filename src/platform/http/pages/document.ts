import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SUSPENDED, type HttpProblem } from '../problem.js';
import { readAssets } from './assets.js';
import { DomainError } from '../../../kernel/domain-error.js';
import type { Locale } from './locale.js';
import type { Page } from '../listeners.js';
import { PAGE_STYLE } from './page-style.js';

/** The sites that may embed a page; null for any. */
export type Framers = readonly string[] | null;

/** Returns a Content-Security-Policy for files of this host. `own` is the source of scripts and styles. */
function toPolicy(own: string, media: string, framedBy: Framers): string {
  const loads = `connect-src 'self'; script-src ${own}; style-src ${own}; ${media}`;
  const framers = framedBy?.length === 0 ? ["'none'"] : framedBy;
  const frames = framers === null ? '' : `; frame-ancestors ${framers.join(' ')}`;
  return `default-src 'none'; ${loads}; base-uri 'none'; form-action 'none'${frames}`;
}

/** API paths on the ports of pages. Their errors are problem details, never an HTML page. */
const DATA = /^\/(admin|api)\/v1(\/|\?|$)/;

/** Checks that a request expects an HTML document. A HEAD does, because link checkers send no Accept. */
export function acceptsHtml({ method, headers, url }: FastifyRequest): boolean {
  const isDocument = method === 'HEAD' || (method === 'GET' && (headers.accept ?? '').includes('text/html'));
  return isDocument && !DATA.test(url);
}

/** Sends a document. The caller escapes `head` and `body`. */
function sendHtml(
  reply: FastifyReply,
  { path }: Pick<Page, 'path'>,
  policy: string,
  { title, head, body, lang }: Readonly<Record<'title' | 'head' | 'body' | 'lang', string>>,
): void {
  reply
    .headers({ 'content-security-policy': policy, 'referrer-policy': 'no-referrer' })
    .type('text/html; charset=utf-8').send(`<!doctype html>
<html lang="${escapeHtml(lang)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="${path}/assets/icon.svg">
${head}
</head>
<body>
${body}
</body>
</html>
`);
}

/** The variable content of a page's HTML document. */
interface Opened {
  readonly locale: Locale;
  readonly framedBy: Framers;
  /** The input of the page's script. */
  readonly facts: object;
  readonly title: string;
  /** The heading that people see before the script runs, or without JavaScript. */
  readonly heading: string;
  readonly text?: string;
}

/** Sends the document of a page, in which the script renders the content. */
export function sendPage(reply: FastifyReply, page: Page, opened: Opened): void {
  const { locale, framedBy, facts, title, heading } = opened;
  const { script, style } = readAssets(page.name);
  const messages = page.messages[locale];
  const head = `<link rel="stylesheet" href="${page.path}/assets/${style}">
<script src="${page.path}/assets/${script}" defer></script>`;
  const main = `<main data-facts="${escapeHtml(JSON.stringify(facts))}">
<h1>${escapeHtml(heading)}</h1>
<p class="lead">${escapeHtml(opened.text ?? messages.loading)}</p>
<noscript><p>${escapeHtml(messages.noScript)}</p></noscript>
</main>`;
  reply.header('vary', 'accept-language');
  const policy = toPolicy("'self'", page.media, framedBy);
  sendHtml(reply, page, policy, { title, head, body: main, lang: locale });
}

/** Sends the document of a single-page application. A request that does not accept HTML gets 404. */
export function sendApplication(
  request: FastifyRequest,
  reply: FastifyReply,
  page: Page,
  { title, facts }: Pick<Opened, 'title' | 'facts'>,
): void {
  if (!acceptsHtml(request)) throw DomainError.notFound('Page');
  sendPage(reply, page, { locale: 'en', framedBy: [], title, heading: title, facts });
}

/** Sends a document without a script, which no site may embed. The caller escapes `body`. */
export function sendPlainPage(
  reply: FastifyReply,
  page: Pick<Page, 'path'>,
  { heading, body, lang }: { readonly heading: string; readonly body: string; readonly lang: Locale },
): void {
  const nonce = randomBytes(16).toString('base64');
  const head = `<style nonce="${nonce}">${PAGE_STYLE}</style>`;
  const main = `<main>\n<h1>${escapeHtml(heading)}</h1>\n${body}\n</main>`;
  const policy = toPolicy(`'nonce-${nonce}'`, "img-src 'self'", []);
  sendHtml(reply, page, policy, { title: heading, head, body: main, lang });
}

export function sendRefusedPage(reply: FastifyReply, page: Page, problem: HttpProblem, lang: Locale): void {
  const messages = page.messages[lang];
  const kind = kindOf(problem);
  const heading = messages[`refused${kind}`] ?? messages.refusedLink;
  const text = messages[`refused${kind}Text`] ?? messages.refusedLinkText;
  const body = `<p class="lead">${escapeHtml(text)}</p>\n<p class="small">${escapeHtml(problem.detail)}</p>`;
  reply.status(problem.status).headers(problem.headers ?? {});
  sendPlainPage(reply, page, { heading, body, lang });
}

function kindOf(problem: HttpProblem): 'Link' | 'TooOften' | 'Trouble' | 'Suspended' | 'Closing' {
  if (problem === SUSPENDED) return 'Suspended';
  if (problem.status >= 500) return 'Trouble';
  if (problem.status === 429) return 'TooOften';
  return problem.status === 409 ? 'Closing' : 'Link';
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character]!);
}
