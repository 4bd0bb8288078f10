import { PAGE_STYLE } from './page-style.js';

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text as it stands in HTML, in attributes too. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
}

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%232446c8'/%3E%3Cpath d='M4.5 8.2l2.4 2.4 4.6-5' fill='none' stroke='%23fff' stroke-width='1.8'/%3E%3C/svg%3E";

/** Who may show a page in a frame: `null` is anybody, an empty list nobody. */
export type Framers = readonly string[] | null;

/** What a page may load and run. `scripts` and `styles` are sources of CSP: a nonce, or `'self'`. */
export interface Sources {
  readonly script: string;
  readonly style: string;
  readonly image: string;
  /** Videos and sounds; none when it is not given. */
  readonly media?: string;
}

/** Everything comes from the listener itself or stands in the page, and nothing from elsewhere. */
export function contentSecurityPolicy({ script, style, image, media }: Sources, framedBy: Framers): string {
  const framers = framedBy?.length === 0 ? ["'none'"] : framedBy;
  return [
    "default-src 'none'",
    "connect-src 'self'",
    `script-src ${script}`,
    `style-src ${style}`,
    `img-src ${image}`,
    ...(media === undefined ? [] : [`media-src ${media}`]),
    "base-uri 'none'",
    "form-action 'none'",
    ...(framers === null ? [] : [`frame-ancestors ${framers.join(' ')}`]),
  ].join('; ');
}

/** A whole document in the language `lang`. `head` and `body` are HTML. */
export function layout(title: string, head: string, body: string, lang = 'en'): string {
  return `<!doctype html>
<html lang="${escapeHtml(lang)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="${ICON}">
${head}
</head>
<body>
${body}
</body>
</html>
`;
}

/** What people are told who followed a link that leads nowhere. */
export interface Advice {
  readonly heading: string;
  readonly text: string;
  /** The language of both; English when it is not given. */
  readonly lang?: string;
}

/** `detail`: the words of the service, in small print. */
export function refusalPage({ heading, text, lang }: Advice, detail: string, nonce: string): string {
  const main = `<main>
<h1>${escapeHtml(heading)}</h1>
<p class="lead">${escapeHtml(text)}</p>
<p class="small">${escapeHtml(detail)}</p>
</main>`;
  return layout(heading, `<style nonce="${nonce}">${PAGE_STYLE}</style>`, main, lang);
}
